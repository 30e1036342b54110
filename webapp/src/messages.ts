import {defineMessages} from 'react-intl';

/** Everything that the webapp part says in English; `npm run i18n:extract` writes i18n/en.json from it. */
export const messages = defineMessages({
    account: {
        id: 'filehost-attach.account',
        defaultMessage: 'Account',
        description: "Label: the user's name at the file host",
    },
    appPassword: {
        id: 'filehost-attach.app_password',
        defaultMessage: 'App password',
        description: 'Label of a form field',
    },
    appPasswordHelp: {
        id: 'filehost-attach.app_password_help',
        defaultMessage: 'Create one in the security settings of {host}. Your own password stays with you.',
        description: 'Help below the field for the app password',
    },
    attachFrom: {
        id: 'filehost-attach.attach_from',
        defaultMessage: 'Attach from {host}',
        description: 'Item of the paperclip menu; host is the name of the company file host',
    },
    attachFromFileHost: {
        id: 'filehost-attach.attach_from_file_host',
        defaultMessage: 'Attach from file host',
        description: 'Item of the paperclip menu while the name of the file host is not known',
    },
    close: {
        id: 'filehost-attach.close',
        defaultMessage: 'Close',
        description: 'Button that closes a dialog',
    },
    code: {
        id: 'filehost-attach.code',
        defaultMessage: 'Code',
        description: 'Label of the field for the code that the last page of a sign-in showed',
    },
    codeHelp: {
        id: 'filehost-attach.code_help',
        defaultMessage: 'Only if the page shows you a code at the end: type it here.',
        description: 'Help below the field for the code',
    },
    confirm: {
        id: 'filehost-attach.confirm',
        defaultMessage: 'Confirm',
        description: 'Button that sends the code',
    },
    connect: {
        id: 'filehost-attach.connect',
        defaultMessage: 'Connect to {host}',
        description: 'Button that begins to connect',
    },
    connectByPassword: {
        id: 'filehost-attach.connect_by_password',
        defaultMessage: 'Connect your account at {host} to attach its files to your messages.',
        description: 'First words of the dialog when the user connects with an app password',
    },
    connectBySignIn: {
        id: 'filehost-attach.connect_by_sign_in',
        defaultMessage: 'Connect your account at {host} to attach its files to your messages. You sign in on a page of {host}; Mattermost never sees your password.',
        description: 'First words of the dialog when the user connects by signing in',
    },
    connected: {
        id: 'filehost-attach.connected',
        defaultMessage: 'You are connected to {host}.',
        description: 'First words of the dialog once the user is connected; also spoken',
    },
    disconnect: {
        id: 'filehost-attach.disconnect',
        defaultMessage: 'Disconnect',
        description: 'Button that ends the connection',
    },
    done: {
        id: 'filehost-attach.done',
        defaultMessage: 'Done',
        description: 'Button that closes a dialog in which everything is as it should be',
    },
    fileHost: {
        id: 'filehost-attach.file_host',
        defaultMessage: 'File host',
        description: 'Stands for the name of the file host while it is not known; also a label before that name',
    },
    haveCode: {
        id: 'filehost-attach.have_code',
        defaultMessage: 'I have a code',
        description: 'Button for somebody who has already signed in and was shown a code',
    },
    lastUsed: {
        id: 'filehost-attach.last_used',
        defaultMessage: 'Last used',
        description: 'Label: when the connection was last used',
    },
    loadFailed: {
        id: 'filehost-attach.load_failed',
        defaultMessage: 'A part of this page could not be loaded. Check your network and open it again; after an update of the server, reload the page first.',
        description: 'The script of the dialog could not be loaded',
    },
    loading: {
        id: 'filehost-attach.loading',
        defaultMessage: 'Loading…',
        description: 'Shown while the first answer is on its way',
    },
    notConfigured: {
        id: 'filehost-attach.not_configured',
        defaultMessage: 'The file host is not set up yet. Please ask your system admin.',
        description: 'The plugin lacks settings, which the user cannot change',
    },
    offline: {
        id: 'filehost-attach.offline',
        defaultMessage: 'The server could not be reached. Check your network and try again.',
        description: 'A call got no answer',
    },
    openSignInAgain: {
        id: 'filehost-attach.open_sign_in_again',
        defaultMessage: 'Open the sign-in page again',
        description: 'Link for a user whose browser blocked the new window, or who closed it',
    },
    reconnect: {
        id: 'filehost-attach.reconnect',
        defaultMessage: '{host} no longer accepts your connection. Please connect again.',
        description: 'The grant has expired or was revoked at the host',
    },
    reference: {
        id: 'filehost-attach.reference',
        defaultMessage: 'Reference for your admin: {id}',
        description: 'Below an error; id finds the call in the log of the server',
    },
    since: {
        id: 'filehost-attach.since',
        defaultMessage: 'Connected since',
        description: 'Label: the day on which the user connected',
    },
    tryAgain: {
        id: 'filehost-attach.try_again',
        defaultMessage: 'Try again',
        description: 'Button after an error',
    },
    unexpected: {
        id: 'filehost-attach.unexpected',
        defaultMessage: 'The server gave an answer that makes no sense here. Try again, and tell your admin if it stays.',
        description: 'A call got an answer that is not of the plugin',
    },
    username: {
        id: 'filehost-attach.username',
        defaultMessage: 'User name',
        description: 'Label of a form field',
    },
    waiting: {
        id: 'filehost-attach.waiting',
        defaultMessage: 'Sign in on the page of {host} that has opened in a new window. This dialog goes on by itself when you are done.',
        description: 'Shown and spoken while the user signs in elsewhere',
    },
});
