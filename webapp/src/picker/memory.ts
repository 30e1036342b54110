import {home, usual, type Arrangement, type Place} from './place';

/** What is kept of how a user has last looked at the files of a host. */
export type Memory = {place: Place; arrangement: Arrangement; tiles: boolean};

/** What is there before anything was kept. */
export const blank: Memory = {place: home, arrangement: usual, tiles: false};

const keyOf = (user: string, host: string) => `filehost-attach:${user}:${host}`;

/** What was kept in this browser. Whatever does not look like it is taken for nothing. */
export function recall(user: string, host: string): Memory {
    try {
        const kept: unknown = JSON.parse(localStorage.getItem(keyOf(user, host)) ?? '');
        return isMemory(kept) ? kept : blank;
    } catch {
        return blank;
    }
}

/** Keeps it in this browser; without a search, which is over when the dialog is. */
export function remember(user: string, host: string, {place, ...rest}: Memory): void {
    try {
        localStorage.setItem(keyOf(user, host), JSON.stringify({...rest, place: {...place, words: ''}}));
    } catch {
        // The browser keeps nothing: the next time begins at the top.
    }
}

function isMemory(kept: unknown): kept is Memory {
    const {place, arrangement, tiles} = (kept ?? {}) as Partial<Memory>;
    return typeof tiles === 'boolean' &&
        typeof place?.path === 'string' && ['folder', 'recent', 'favorites', 'shared'].includes(place.view) &&
        ['name', 'modified', 'size'].includes(arrangement?.sort ?? '') &&
        ['asc', 'desc'].includes(arrangement?.order ?? '') &&
        ['all', 'images', 'documents', 'audio', 'video'].includes(arrangement?.kind ?? '');
}
