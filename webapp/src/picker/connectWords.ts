import {defineMessages, type MessageDescriptor} from 'react-intl';

import {messages as common} from '../messages';
import type {Method} from '../types';

const own = defineMessages({
    accept: {
        id: 'filehost-attach.accept',
        defaultMessage: 'Connect this account',
        description: "Button: the account shown is the user's own",
    },
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
    back: {
        id: 'filehost-attach.back',
        defaultMessage: 'Back',
        description: 'Button that leaves a sign-in under way for the ways to connect',
    },
    blocked: {
        id: 'filehost-attach.blocked',
        defaultMessage: 'Your browser has blocked the new window. Open the page of {host} here:',
        description: 'Shown instead of the words that a page has opened; a link follows',
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
    connectByGrant: {
        id: 'filehost-attach.connect_by_grant',
        defaultMessage: 'Connect your account at {host} to attach its files to your messages. You sign in on a page of {host} and allow access there; Mattermost never sees your password.',
        description: 'First words of the dialog when the user connects by a page that gives the plugin an app password',
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
    connectedShared: {
        id: 'filehost-attach.connected_shared',
        defaultMessage: 'You use an account of {host} that others use as well.',
        description: 'Below the first words of the dialog where the account is one for many users',
    },
    connecting: {
        id: 'filehost-attach.connecting',
        defaultMessage: 'Connecting to {host}…',
        description: 'Shown and spoken while the host is connected without an act of the user',
    },
    connectShared: {
        id: 'filehost-attach.connect_shared',
        defaultMessage: 'Attach files of {host} to your messages. They are those of an account that others use as well.',
        description: 'First words of the dialog when the user connects to an account for many users',
    },
    disconnect: {
        id: 'filehost-attach.disconnect',
        defaultMessage: 'Disconnect',
        description: 'Button that ends the connection',
    },
    displayName: {
        id: 'filehost-attach.display_name',
        defaultMessage: 'Name',
        description: "Label: the user's full name at the file host",
    },
    done: {
        id: 'filehost-attach.done',
        defaultMessage: 'Done',
        description: 'Button that closes a dialog in which everything is as it should be',
    },
    email: {
        id: 'filehost-attach.email',
        defaultMessage: 'Email',
        description: "Label: the user's email address at the file host",
    },
    expired: {
        id: 'filehost-attach.expired',
        defaultMessage: 'The sign-in took too long, so nothing was connected. Please begin again.',
        description: 'The user did not finish on the page of the host',
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
    loading: {
        id: 'filehost-attach.loading',
        defaultMessage: 'Loading…',
        description: 'Shown while the first answer is on its way',
    },
    methodAppToken: {
        id: 'filehost-attach.method_app_token',
        defaultMessage: 'Access that your admin has prepared',
        description: "Name of a way to connect: an account of the admin's makes the user an app token",
    },
    methodLoginFlow: {
        id: 'filehost-attach.method_login_flow',
        defaultMessage: 'Allow access in the browser',
        description: 'Name of a way to connect: the user signs in on a page that gives the plugin an app password',
    },
    methodOAuth: {
        id: 'filehost-attach.method_oauth',
        defaultMessage: 'Sign in in the browser',
        description: 'Name of a way to connect: the user signs in on a page of the host',
    },
    methodPassword: {
        id: 'filehost-attach.method_password',
        defaultMessage: 'User name and app password',
        description: 'Name of a way to connect',
    },
    methodServiceAccount: {
        id: 'filehost-attach.method_service_account',
        defaultMessage: 'Shared account',
        description: 'Name of a way to connect: the files of one account for all users',
    },
    methodSignOn: {
        id: 'filehost-attach.method_sign_on',
        defaultMessage: 'Single sign-on',
        description: "Name of a way to connect: the company's sign-in server vouches for the user",
    },
    notConfigured: {
        id: 'filehost-attach.not_configured',
        defaultMessage: 'The file host is not set up yet. Please ask your system admin.',
        description: 'The plugin lacks settings, which the user cannot change',
    },
    notConnected: {
        id: 'filehost-attach.not_connected',
        defaultMessage: 'The sign-in did not connect you to {host}. {reason}',
        description: 'reason: a sentence of the server',
    },
    notMe: {
        id: 'filehost-attach.not_me',
        defaultMessage: 'Not me',
        description: "Button: the account shown is not the user's own",
    },
    offline: {
        id: 'filehost-attach.offline',
        defaultMessage: 'The server could not be reached. Check your network and try again.',
        description: 'A call got no answer',
    },
    openSignIn: {
        id: 'filehost-attach.open_sign_in',
        defaultMessage: 'Open the sign-in page',
        description: 'Link for a user whose browser blocked the new window',
    },
    openSignInAgain: {
        id: 'filehost-attach.open_sign_in_again',
        defaultMessage: 'Open the sign-in page again',
        description: 'Link for a user whose browser blocked the new window, or who closed it',
    },
    otherMethods: {
        id: 'filehost-attach.other_methods',
        defaultMessage: 'Other ways to connect:',
        description: 'Before the names of the ways that the user has not chosen',
    },
    pending: {
        id: 'filehost-attach.pending',
        defaultMessage: 'You have signed in to {host} with this account. Connect it?',
        description: 'Question before an account is connected; its name follows',
    },
    pendingHelp: {
        id: 'filehost-attach.pending_help',
        defaultMessage: 'Nothing is connected yet. If somebody has sent you here, or this is not your account, choose “Not me”.',
        description: 'Help below the account',
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
    refused: {
        id: 'filehost-attach.refused',
        defaultMessage: '{host} could not be connected without signing in ({method}). {reason}',
        description: 'method: the name of a way to connect; reason: a sentence of the server',
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
    waitingForGrant: {
        id: 'filehost-attach.waiting_for_grant',
        defaultMessage: 'Sign in on the page of {host} that has opened in a new window, and allow access there. This dialog then shows your account and goes on.',
        description: 'Shown and spoken while the user signs in elsewhere',
    },
});

/** What the dialog says about the connection in English, beside what is said before it is there. */
export const messages = {...common, ...own};

/** What people call the ways to connect. */
export const methodNames: Record<Method, MessageDescriptor> = {
    oauth: messages.methodOAuth,
    login_flow: messages.methodLoginFlow,
    password: messages.methodPassword,
    token_exchange: messages.methodSignOn,
    jwt_bearer: messages.methodSignOn,
    app_token: messages.methodAppToken,
    service_account: messages.methodServiceAccount,
};
