import type {Entry, ListingView, Order, Sort} from '../types';

/** Where the user looks for files. */
export type Place = {
    view: ListingView;

    /** The folder that is shown, or that a search is made below. */
    path: string;

    /** Of a folder that has no path. */
    id?: string;

    /** What that folder is called. */
    name?: string;

    /** What is searched for; empty: nothing. */
    words: string;
};

/** Which kinds of files are shown. */
export type Kind = 'all' | 'folders' | 'images' | 'documents' | 'audio' | 'video';

/** How a place is shown. */
export type Arrangement = {sort: Sort; order: Order; kind: Kind};

/** The top folder. */
export const home: Place = {view: 'folder', path: '/', words: ''};

/** The arrangement that most people want. */
export const usual: Arrangement = {sort: 'name', order: 'asc', kind: 'all'};

/** The MIME types of each kind. Folders are always there, or nobody could look into them. */
export const typesOf: Record<Kind, readonly string[]> = {
    all: [],
    folders: ['folder'],
    images: ['folder', 'image/'],
    documents: [
        'folder', 'text/', 'application/pdf', 'application/rtf', 'application/msword', 'application/vnd.ms-excel',
        'application/vnd.ms-powerpoint', 'application/vnd.oasis.opendocument.presentation',
        'application/vnd.oasis.opendocument.spreadsheet', 'application/vnd.oasis.opendocument.text',
        'application/vnd.openxmlformats-officedocument.presentationml.presentation',
        'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
        'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    ],
    audio: ['folder', 'audio/'],
    video: ['folder', 'video/'],
};

/** Inside a folder. */
export function inside({path, id, name}: Entry): Place {
    return path === '' ? {...home, id, name} : {...home, path};
}

/** One of the folders above, the top one first. `name` is absent for the top folder. */
export type Crumb = {place: Place; name?: string};

/** The way from the top folder to a place. */
export function crumbs({path, id, name}: Place): Crumb[] {
    const trail: Crumb[] = [{place: home}];
    const parts = path.split('/').filter((part) => part !== '');
    parts.forEach((part, index) => {
        trail.push({place: {...home, path: `/${parts.slice(0, index + 1).join('/')}`}, name: part});
    });
    if (id !== undefined) {
        trail.push({place: {...home, path, id, name: name ?? ''}, name: name ?? ''});
    }
    return trail;
}

/** The place above, or the one without the search; undefined at the top. */
export function above(place: Place): Place | undefined {
    if (place.words !== '') {
        return {...place, words: ''};
    }
    if (place.view !== 'folder') {
        return home;
    }
    return crumbs(place).at(-2)?.place;
}

/** The newest come first where that is what a place is for. */
export function arrangementOf(place: Place, chosen: Arrangement): Arrangement {
    return place.view === 'recent' ? {...chosen, sort: 'modified', order: 'desc'} : chosen;
}
