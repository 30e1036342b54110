import {defineMessages} from 'react-intl';

/** What the webapp part says before the dialog's script is there, in English; `npm run i18n:extract` writes i18n/start/en.json from it. */
export const messages = defineMessages({
    account: {
        id: 'filehost-attach.your_account',
        defaultMessage: 'Your account',
        description: 'Heading in the user settings, on the page of the file host',
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
    checkNewer: {
        id: 'filehost-attach.check_newer',
        defaultMessage: 'Check for a newer version',
        description: 'Item of the menu of a post: asks the file host about the files of the post',
    },
    close: {
        id: 'filehost-attach.close',
        defaultMessage: 'Close',
        description: 'Button that closes a dialog',
    },
    fileHost: {
        id: 'filehost-attach.file_host',
        defaultMessage: 'File host',
        description: 'Stands for the name of the file host while it is not known; also a label before that name',
    },
    loadFailed: {
        id: 'filehost-attach.load_failed',
        defaultMessage: 'A part of this page could not be loaded. Check your network and open it again; after an update of the server, reload the page first.',
        description: 'The script of the dialog could not be loaded',
    },
    saveTo: {
        id: 'filehost-attach.save_to',
        defaultMessage: 'Save to {host}',
        description: 'Item of the menus of files and posts, and title of the dialog; host is the name of the company file host',
    },
    saveToFileHost: {
        id: 'filehost-attach.save_to_file_host',
        defaultMessage: 'Save to file host',
        description: 'The same while the name of the file host is not known',
    },
});
