import type {Entry, Limits} from '../types';

/** The files that the user has chosen, of any folders, in the order in which he did. */
export type Selection = readonly Entry[];

/** What may be chosen. */
export type Room = Limits & {

    /** Files that the message has already. */
    taken: number;

    /** Whether the files go into one request together, which has a limit of its own. */
    together: boolean;
};

/** Why a file can't be attached. */
export type Unfit = 'folder' | 'unreadable' | 'empty' | 'large';

/** Why nothing more can be chosen. */
export type Full = 'files' | 'total';

/** Tells why an entry can't be attached, whatever else is chosen; undefined = it can. */
export function unfit({kind, permissions, size}: Entry, {file_size: most}: Limits): Unfit | undefined {
    if (kind === 'folder') {
        return 'folder';
    }
    if (!permissions.includes('read')) {
        return 'unreadable';
    }
    if (size === 0) {
        return 'empty';
    }
    return size > most ? 'large' : undefined;
}

/** How many bytes the chosen files have together. */
export function sizeOf(selection: Selection): number {
    return selection.reduce((sum, {size}) => sum + size, 0);
}

/** How many more files can be chosen. */
export function roomLeft(selection: Selection, {files, taken}: Room): number {
    return Math.max(0, files - taken - selection.length);
}

/** What came of choosing entries. */
export type Choice = {selection: Selection; full?: Full};

/** The selection with more entries, as far as they fit. */
export function add(selection: Selection, entries: readonly Entry[], room: Room): Choice {
    let chosen = selection;
    for (const entry of entries) {
        if (unfit(entry, room) || has(chosen, entry)) {
            continue;
        }
        if (roomLeft(chosen, room) === 0) {
            return {selection: chosen, full: 'files'};
        }
        if (room.together && sizeOf(chosen) + entry.size > room.total_size) {
            return {selection: chosen, full: 'total'};
        }
        chosen = [...chosen, entry];
    }
    return {selection: chosen};
}

/** The selection without an entry. */
export function remove(selection: Selection, {id}: Entry): Selection {
    return selection.filter((chosen) => chosen.id !== id);
}

/** Whether an entry is chosen. */
export function has(selection: Selection, {id}: Entry): boolean {
    return selection.some((chosen) => chosen.id === id);
}

/** The selection with an entry if it was without it, and the other way round. */
export function toggle(selection: Selection, entry: Entry, room: Room): Choice {
    return has(selection, entry) ? {selection: remove(selection, entry)} : add(selection, [entry], room);
}
