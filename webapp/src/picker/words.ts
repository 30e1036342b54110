import {defineMessages} from 'react-intl';

/** What the picker says in English. */
export const words = defineMessages({
    account: {
        id: 'filehost-attach.picker.account_button',
        defaultMessage: 'Your account at {host}',
        description: 'Button that shows as whom the user is connected',
    },
    allFiles: {
        id: 'filehost-attach.picker.all_files',
        defaultMessage: 'All files',
        description: 'View: folders from the top one on',
    },
    askPost: {
        id: 'filehost-attach.picker.ask_post',
        defaultMessage: 'The files can’t be put into the message that you are writing here. Post them to this channel now?',
        description: 'Question; the web client gives no way into this editor',
    },
    askPostHelp: {
        id: 'filehost-attach.picker.ask_post_help',
        defaultMessage: 'Show the formatting bar below the message to get files into it before you send it.',
        description: 'Help below that question',
    },
    askPostThread: {
        id: 'filehost-attach.picker.ask_post_thread',
        defaultMessage: 'The files can’t be put into the reply that you are writing here. Post them to this thread now?',
        description: 'Question; the web client gives no way into this editor',
    },
    attach: {
        id: 'filehost-attach.picker.attach',
        defaultMessage: '{count, plural, =0 {Attach} one {Attach # file} other {Attach # files}}',
        description: 'Button: puts the chosen files into the message',
    },
    attaching: {
        id: 'filehost-attach.picker.attaching',
        defaultMessage: '{count, plural, one {Attaching # file} other {Attaching # files}}',
        description: 'Heading above the files that are being copied',
    },
    audioFiles: {
        id: 'filehost-attach.picker.kind_audio',
        defaultMessage: 'Audio',
        description: 'Choice: only sound files are shown',
    },
    backToFiles: {
        id: 'filehost-attach.picker.back_to_files',
        defaultMessage: 'Back to the files',
        description: 'Button that leaves the progress of files for the list of files',
    },
    byModified: {
        id: 'filehost-attach.picker.sort_modified',
        defaultMessage: 'Modified',
        description: 'Column and order: when a file was last changed',
    },
    byName: {
        id: 'filehost-attach.picker.sort_name',
        defaultMessage: 'Name',
        description: 'Column and order: the name of a file',
    },
    bySize: {
        id: 'filehost-attach.picker.sort_size',
        defaultMessage: 'Size',
        description: 'Column and order: how large a file is',
    },
    cancel: {
        id: 'filehost-attach.picker.cancel',
        defaultMessage: 'Cancel',
        description: 'Button',
    },
    cancelAll: {
        id: 'filehost-attach.picker.cancel_all',
        defaultMessage: 'Cancel all',
        description: 'Button that stops all copies',
    },
    cancelFile: {
        id: 'filehost-attach.picker.cancel_file',
        defaultMessage: 'Cancel {name}',
        description: 'Button, spoken only: stops the copy of a file',
    },
    changed: {
        id: 'filehost-attach.picker.changed',
        defaultMessage: 'It has changed since it was listed. Try again to take it as it is now.',
        description: 'A file could not be copied',
    },
    chosen: {
        id: 'filehost-attach.picker.chosen',
        defaultMessage: '{most, plural, one {{count, number} of # file, {size}} other {{count, number} of # files, {size}}}',
        description: 'How many files are chosen, how many can be, and how large they are together; also spoken',
    },
    chosenFile: {
        id: 'filehost-attach.picker.chosen_file',
        defaultMessage: '{name} chosen, {count, number} of {most, number}',
        description: 'Spoken after a file was chosen',
    },
    chosenFiles: {
        id: 'filehost-attach.picker.chosen_files',
        defaultMessage: 'Chosen files',
        description: 'Label of the list of chosen files; also the button that shows it, spoken',
    },
    clear: {
        id: 'filehost-attach.picker.clear',
        defaultMessage: 'Clear',
        description: 'Button that lets go of all chosen files',
    },
    documents: {
        id: 'filehost-attach.picker.kind_documents',
        defaultMessage: 'Documents',
        description: 'Choice: only texts, tables and presentations are shown',
    },
    emptyFavorites: {
        id: 'filehost-attach.picker.empty_favorites',
        defaultMessage: 'No favourites yet',
        description: 'Nothing is in this view',
    },
    emptyFavoritesHelp: {
        id: 'filehost-attach.picker.empty_favorites_help',
        defaultMessage: 'Mark files as favourites at {host} to find them here.',
        description: 'Help below it',
    },
    emptyFile: {
        id: 'filehost-attach.picker.empty_file',
        defaultMessage: 'Empty file: can’t be attached',
        description: 'Why a file cannot be chosen',
    },
    emptyFolder: {
        id: 'filehost-attach.picker.empty_folder',
        defaultMessage: 'This folder is empty',
        description: 'Nothing is in the folder',
    },
    emptyFolderHelp: {
        id: 'filehost-attach.picker.empty_folder_help',
        defaultMessage: 'Files that you put into it at {host} show up here.',
        description: 'Help below it',
    },
    emptyKind: {
        id: 'filehost-attach.picker.empty_kind',
        defaultMessage: 'Nothing of this kind here',
        description: 'Nothing is left by the choice of a kind of files',
    },
    emptyRecent: {
        id: 'filehost-attach.picker.empty_recent',
        defaultMessage: 'No files yet',
        description: 'Nothing is in the view of recent files',
    },
    emptySearch: {
        id: 'filehost-attach.picker.empty_search',
        defaultMessage: 'Nothing found for “{words}”',
        description: 'Nothing was found',
    },
    emptySearchHelp: {
        id: 'filehost-attach.picker.empty_search_help',
        defaultMessage: 'Try other words, or search from the top folder.',
        description: 'Help below it',
    },
    emptyShared: {
        id: 'filehost-attach.picker.empty_shared',
        defaultMessage: 'Nothing is shared with you',
        description: 'Nothing is in this view',
    },
    entries: {
        id: 'filehost-attach.picker.entries',
        defaultMessage: '{count, plural, =0 {Nothing here} one {# entry} other {# entries}}',
        description: 'Spoken when a folder was opened',
    },
    favorites: {
        id: 'filehost-attach.picker.favorites',
        defaultMessage: 'Favourites',
        description: 'View: what the user has marked at the host',
    },
    folders: {
        id: 'filehost-attach.picker.folders',
        defaultMessage: 'Folders',
        description: 'Label of the way from the top folder to this one, spoken',
    },
    forbidden: {
        id: 'filehost-attach.picker.forbidden',
        defaultMessage: 'You have no access to this',
        description: 'A folder or file is not for this user',
    },
    found: {
        id: 'filehost-attach.picker.found',
        defaultMessage: '{count, plural, =0 {Nothing found} one {# found} other {# found}}',
        description: 'Spoken when a search has ended',
    },
    full: {
        id: 'filehost-attach.picker.full',
        defaultMessage: 'A message takes {most, plural, one {# file} other {# files}}; that many are chosen.',
        description: 'Shown and spoken when one more cannot be chosen',
    },
    fullTotal: {
        id: 'filehost-attach.picker.full_total',
        defaultMessage: 'Together the files would be larger than {size}, the most that can be posted at once.',
        description: 'Shown and spoken when one more cannot be chosen',
    },
    gone: {
        id: 'filehost-attach.picker.gone',
        defaultMessage: 'This is no longer there',
        description: 'A folder or file was removed or moved',
    },
    hostDown: {
        id: 'filehost-attach.picker.host_down',
        defaultMessage: '{host} can’t be reached',
        description: 'The file host does not answer',
    },
    hostDownHelp: {
        id: 'filehost-attach.picker.host_down_help',
        defaultMessage: 'Try again in a moment. If it stays, tell your admin.',
        description: 'Help below an error',
    },
    images: {
        id: 'filehost-attach.picker.kind_images',
        defaultMessage: 'Images',
        description: 'Choice: only images are shown',
    },
    kind: {
        id: 'filehost-attach.picker.kind',
        defaultMessage: 'Kind of files',
        description: 'Label of the choice of a kind of files, spoken',
    },
    kindAll: {
        id: 'filehost-attach.picker.kind_all',
        defaultMessage: 'All kinds',
        description: 'Choice: files of all kinds are shown',
    },
    large: {
        id: 'filehost-attach.picker.large',
        defaultMessage: 'Larger than {size}: can’t be attached',
        description: 'Why a file cannot be chosen',
    },
    limits: {
        id: 'filehost-attach.picker.limits',
        defaultMessage: '{most, plural, one {# file} other {Up to # files}}, each up to {size}',
        description: 'Shown while no file is chosen; size: such as 100 MB',
    },
    listView: {
        id: 'filehost-attach.picker.list_view',
        defaultMessage: 'List',
        description: 'Button: files are shown as rows',
    },
    loadingMore: {
        id: 'filehost-attach.picker.loading_more',
        defaultMessage: 'Loading more…',
        description: 'At the end of a list',
    },
    loggedOut: {
        id: 'filehost-attach.picker.logged_out',
        defaultMessage: 'Your Mattermost session has ended',
        description: 'The user has to log in again',
    },
    loggedOutHelp: {
        id: 'filehost-attach.picker.logged_out_help',
        defaultMessage: 'Reload the page and log in.',
        description: 'Help below it',
    },
    maintenance: {
        id: 'filehost-attach.picker.maintenance',
        defaultMessage: '{host} is in maintenance',
        description: 'The file host is switched off for a while',
    },
    narrower: {
        id: 'filehost-attach.picker.narrower',
        defaultMessage: 'There are more. Search for something narrower, or in a folder.',
        description: 'At the end of what a search has found',
    },
    noTarget: {
        id: 'filehost-attach.picker.no_target',
        defaultMessage: 'Open a channel first, then attach files from its message box.',
        description: 'There is no message that files could go into',
    },
    place: {
        id: 'filehost-attach.picker.place',
        defaultMessage: '{name}, {host}',
        description: 'Label of the list of files, spoken; name: of the folder or view',
    },
    postNow: {
        id: 'filehost-attach.picker.post_now',
        defaultMessage: 'Post now',
        description: 'Button: posts the chosen files',
    },
    rateLimited: {
        id: 'filehost-attach.picker.rate_limited',
        defaultMessage: 'Too many requests at once',
        description: 'The server does no more for this user now',
    },
    rateLimitedHelp: {
        id: 'filehost-attach.picker.rate_limited_help',
        defaultMessage: '{seconds, plural, =0 {Try again in a moment.} one {Try again in # second.} other {Try again in # seconds.}}',
        description: 'Help below it',
    },
    recent: {
        id: 'filehost-attach.picker.recent',
        defaultMessage: 'Recent',
        description: 'View: files that were changed last',
    },
    reload: {
        id: 'filehost-attach.picker.reload',
        defaultMessage: 'Reload the page',
        description: 'Button',
    },
    retryFile: {
        id: 'filehost-attach.picker.retry_file',
        defaultMessage: 'Try {name} again',
        description: 'Button, spoken only',
    },
    search: {
        id: 'filehost-attach.picker.search',
        defaultMessage: 'Search',
        description: 'Label of the search field, spoken',
    },
    searchIn: {
        id: 'filehost-attach.picker.search_in',
        defaultMessage: 'Search in {name}',
        description: 'In the search field while it is empty; name: of a folder or of the host',
    },
    searching: {
        id: 'filehost-attach.picker.searching',
        defaultMessage: 'Results for “{words}”',
        description: 'Label of the list of what was found, spoken',
    },
    shared: {
        id: 'filehost-attach.picker.shared',
        defaultMessage: 'Shared with me',
        description: 'View: what others have shared with the user',
    },
    sizeUnknown: {
        id: 'filehost-attach.picker.unreadable_file',
        defaultMessage: 'Can’t be downloaded',
        description: 'Why a file cannot be chosen',
    },
    someFailed: {
        id: 'filehost-attach.picker.some_failed',
        defaultMessage: '{failed, plural, one {# file could not be attached.} other {# files could not be attached.}}',
        description: 'Above the files, some of which could not be copied',
    },
    sortBy: {
        id: 'filehost-attach.picker.sort_by',
        defaultMessage: 'Order',
        description: 'Label of the choice of an order, spoken',
    },
    sortedDown: {
        id: 'filehost-attach.picker.sorted_down',
        defaultMessage: '{by}, descending',
        description: 'Choice of an order; by: name of a column',
    },
    stateCancelled: {
        id: 'filehost-attach.picker.state_cancelled',
        defaultMessage: 'Cancelled',
        description: 'What became of a file',
    },
    stateCopying: {
        id: 'filehost-attach.picker.state_copying',
        defaultMessage: 'Copying…',
        description: 'What becomes of a file',
    },
    stateDone: {
        id: 'filehost-attach.picker.state_done',
        defaultMessage: 'Attached',
        description: 'What became of a file',
    },
    stateWaiting: {
        id: 'filehost-attach.picker.state_waiting',
        defaultMessage: 'Waiting',
        description: 'What becomes of a file',
    },
    tileView: {
        id: 'filehost-attach.picker.tile_view',
        defaultMessage: 'Tiles',
        description: 'Button: files are shown as large pictures',
    },
    timeout: {
        id: 'filehost-attach.picker.timeout',
        defaultMessage: '{host} took too long to answer',
        description: 'The file host is slow',
    },
    tooLong: {
        id: 'filehost-attach.picker.too_long',
        defaultMessage: 'This folder is too large to be listed',
        description: 'The host has more entries than can be read',
    },
    tooLongHelp: {
        id: 'filehost-attach.picker.too_long_help',
        defaultMessage: 'Search for the file instead.',
        description: 'Help below it',
    },
    toTop: {
        id: 'filehost-attach.picker.to_top',
        defaultMessage: 'Go to all files',
        description: 'Button that leads to the top folder',
    },
    transferred: {
        id: 'filehost-attach.picker.transferred',
        defaultMessage: '{done, number} of {all, number} attached',
        description: 'Spoken as files are copied',
    },
    unsupported: {
        id: 'filehost-attach.picker.unsupported',
        defaultMessage: '{host} can’t do this',
        description: 'The host has no such view or search',
    },
    videos: {
        id: 'filehost-attach.picker.kind_video',
        defaultMessage: 'Videos',
        description: 'Choice: only films are shown',
    },
    views: {
        id: 'filehost-attach.picker.views',
        defaultMessage: 'Views',
        description: 'Label of the choice of a view, spoken',
    },
});
