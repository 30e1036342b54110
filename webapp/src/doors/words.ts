import {defineMessages} from 'react-intl';

/** What cards, saving and the account say in English. */
export const words = defineMessages({
    anyoneEdits: {
        id: 'filehost-attach.doors.anyone_edits',
        defaultMessage: 'Anyone with the link can edit',
        description: 'On a card: who can open the link',
    },
    anyoneViews: {
        id: 'filehost-attach.doors.anyone_views',
        defaultMessage: 'Anyone with the link can view',
        description: 'On a card: who can open the link',
    },
    asBefore: {
        id: 'filehost-attach.doors.as_before',
        defaultMessage: 'The files are as they were posted.',
        description: 'What the file host says of the files of a post',
    },
    bringIn: {
        id: 'filehost-attach.doors.bring_in',
        defaultMessage: 'Bring in the newer version',
        description: 'Button: posts the files that have changed as an answer',
    },
    broughtIn: {
        id: 'filehost-attach.doors.brought_in',
        defaultMessage: 'Done: what is new is in the thread of the post, or on its card.',
        description: 'After newer versions were brought in',
    },
    cancel: {
        id: 'filehost-attach.doors.cancel',
        defaultMessage: 'Cancel',
        description: 'Button',
    },
    cardFiles: {
        id: 'filehost-attach.doors.card_files',
        defaultMessage: 'Links to {host}',
        description: 'Label of the list on a card, spoken',
    },
    changed: {
        id: 'filehost-attach.doors.changed',
        defaultMessage: 'A newer version exists',
        description: 'What became of a file since it was posted',
    },
    checkTitle: {
        id: 'filehost-attach.doors.check_title',
        defaultMessage: 'Newer versions at {host}',
        description: 'Title of a dialog',
    },
    conflict: {
        id: 'filehost-attach.doors.conflict',
        defaultMessage: 'If the name is taken',
        description: 'Label of a choice: what becomes of a file that is saved',
    },
    copied: {
        id: 'filehost-attach.doors.copied',
        defaultMessage: 'Link copied',
        description: 'On the button, and spoken',
    },
    copy: {
        id: 'filehost-attach.doors.copy',
        defaultMessage: 'Copy link',
        description: 'Button on a card',
    },
    copyFile: {
        id: 'filehost-attach.doors.copy_file',
        defaultMessage: 'Copy link to {name}',
        description: 'Button on a card, spoken',
    },
    expired: {
        id: 'filehost-attach.doors.expired',
        defaultMessage: 'The link has expired',
        description: 'On a card',
    },
    failed: {
        id: 'filehost-attach.doors.failed',
        defaultMessage: 'The server could not be reached. Try again in a moment.',
        description: 'An action on a card, or in the account settings, has failed',
    },
    folder: {
        id: 'filehost-attach.doors.folder',
        defaultMessage: 'Folder',
        description: 'On a card: what the link leads to',
    },
    folderName: {
        id: 'filehost-attach.doors.folder_name',
        defaultMessage: 'Name of the new folder',
        description: 'Label of a field',
    },
    gone: {
        id: 'filehost-attach.doors.gone',
        defaultMessage: 'No longer at {host}',
        description: 'What became of a file since it was posted',
    },
    internal: {
        id: 'filehost-attach.doors.internal',
        defaultMessage: 'For people who have access at {host}',
        description: 'On a card: who can open the link',
    },
    keepBoth: {
        id: 'filehost-attach.doors.keep_both',
        defaultMessage: 'Keep both',
        description: 'Choice for a name that is taken: the new file gets another name',
    },
    keepConnection: {
        id: 'filehost-attach.doors.keep_connection',
        defaultMessage: 'Stay connected',
        description: 'Button: the answer no to the question whether to disconnect',
    },
    leave: {
        id: 'filehost-attach.doors.leave',
        defaultMessage: 'Don’t save',
        description: 'Choice for a name that is taken: the new file is not saved',
    },
    make: {
        id: 'filehost-attach.doors.make',
        defaultMessage: 'Create',
        description: 'Button: makes the folder',
    },
    maybeSaved: {
        id: 'filehost-attach.doors.maybe_saved',
        defaultMessage: 'It may be there all the same: look into the folder before you try again.',
        description: 'Help below an error: the answer was lost',
    },
    newer: {
        id: 'filehost-attach.doors.newer',
        defaultMessage: 'A newer version exists',
        description: 'Badge on a card',
    },
    newFolder: {
        id: 'filehost-attach.doors.new_folder',
        defaultMessage: 'New folder',
        description: 'Button',
    },
    noFolders: {
        id: 'filehost-attach.doors.no_folders',
        defaultMessage: 'No folders in here',
        description: 'In the list of folders, which is empty',
    },
    notConnected: {
        id: 'filehost-attach.doors.not_connected',
        defaultMessage: 'You are not connected to {host}.',
        description: 'In the account settings',
    },
    notCopied: {
        id: 'filehost-attach.doors.not_copied',
        defaultMessage: 'The link could not be copied',
        description: 'Spoken',
    },
    open: {
        id: 'filehost-attach.doors.open',
        defaultMessage: 'Open',
        description: 'Button on a card',
    },
    openFile: {
        id: 'filehost-attach.doors.open_file',
        defaultMessage: 'Open {name}',
        description: 'Button on a card, spoken',
    },
    openFolder: {
        id: 'filehost-attach.doors.open_folder',
        defaultMessage: 'Open the folder at {host}',
        description: 'Link, after files were saved',
    },
    password: {
        id: 'filehost-attach.doors.password',
        defaultMessage: 'password needed',
        description: 'On a card, after who can open the link',
    },
    reallyDisconnect: {
        id: 'filehost-attach.doors.really_disconnect',
        defaultMessage: 'Disconnect from {host}? Links that you have posted stay; files are attached again after you connect again.',
        description: 'Question',
    },
    renamed: {
        id: 'filehost-attach.doors.renamed',
        defaultMessage: 'Renamed or moved at the host',
        description: 'Badge on a card',
    },
    replace: {
        id: 'filehost-attach.doors.replace',
        defaultMessage: 'Replace the file there',
        description: 'Choice for a name that is taken',
    },
    revoked: {
        id: 'filehost-attach.doors.revoked',
        defaultMessage: 'The link was revoked',
        description: 'On a card',
    },
    saved: {
        id: 'filehost-attach.doors.saved',
        defaultMessage: 'Saved as {name}',
        description: 'What became of a file; name: as it is called there',
    },
    savedCount: {
        id: 'filehost-attach.doors.saved_count',
        defaultMessage: '{done, number} of {all, number} saved',
        description: 'Spoken and shown as files are saved',
    },
    saveHere: {
        id: 'filehost-attach.doors.save_here',
        defaultMessage: 'Save here',
        description: 'Button: saves the files in the folder that is shown',
    },
    saving: {
        id: 'filehost-attach.doors.saving',
        defaultMessage: 'Saving…',
        description: 'What becomes of a file',
    },
    savingFiles: {
        id: 'filehost-attach.doors.saving_files',
        defaultMessage: '{count, plural, one {# file to save} other {# files to save}}',
        description: 'Above the folders to save in',
    },
    unchanged: {
        id: 'filehost-attach.doors.unchanged',
        defaultMessage: 'As it was posted',
        description: 'What became of a file since it was posted',
    },
    until: {
        id: 'filehost-attach.doors.until',
        defaultMessage: 'until {day}',
        description: 'On a card: the last day on which the link works',
    },
    update: {
        id: 'filehost-attach.doors.update',
        defaultMessage: 'Update',
        description: 'Button on a card: has the post tell of the newer version',
    },
    updated: {
        id: 'filehost-attach.doors.updated',
        defaultMessage: 'Updated',
        description: 'Spoken',
    },
    updateFile: {
        id: 'filehost-attach.doors.update_file',
        defaultMessage: 'Update {name}',
        description: 'Button on a card, spoken',
    },
});
