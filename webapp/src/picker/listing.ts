import type {ApiError} from '../client';
import type {Capabilities, Entry, Page} from '../types';

/** What is known of the entries at a place. */
export type Listing = {

    /** `loading`: nothing is there yet; `more`: the next page is on its way; `stuck`: it did not come. */
    status: 'loading' | 'failed' | 'ready' | 'more' | 'stuck';
    entries: readonly Entry[];

    /** Leads to the next page; absent on the last. */
    cursor?: string;

    /** Entries on all pages together, where the host says. */
    total?: number;
    truncated: boolean;
    problem?: ApiError;

    /** Of the last listing that there was, at whatever place. */
    capabilities?: Capabilities;
};

/** What happens to a listing. */
export type ListingEvent =
    | {type: 'asked'}
    | {type: 'loaded'; page: Page}
    | {type: 'askedForMore'}
    | {type: 'failed'; problem: ApiError};

/** A listing before the first answer. */
export const unlisted: Listing = {status: 'loading', entries: [], truncated: false};

/** The listing after an event. */
export function reduceListing(listing: Listing, event: ListingEvent): Listing {
    switch (event.type) {
    case 'asked':
        return {...unlisted, ...(listing.capabilities && {capabilities: listing.capabilities})};
    case 'askedForMore':
        return listing.cursor === undefined ? listing : {...listing, status: 'more'};
    case 'loaded':
        return loaded(listing, event.page);
    case 'failed':
        return {...listing, status: listing.status === 'more' ? 'stuck' : 'failed', problem: event.problem};
    }
}

function loaded(listing: Listing, {entries, next_cursor: cursor, total, truncated = false, capabilities}: Page): Listing {
    const before = listing.status === 'more' ? listing.entries : [];
    return {
        status: 'ready',
        entries: before.length === 0 ? entries : withoutDoubles([...before, ...entries]),
        truncated,
        capabilities,
        ...(cursor !== undefined && {cursor}),
        ...(total !== undefined && {total}),
    };
}

/** What was renamed between two pages may be on both. */
function withoutDoubles(entries: readonly Entry[]): Entry[] {
    return [...new Map(entries.map((entry) => [entry.id, entry])).values()];
}

/** Whether the next page should be asked for when the entry with this index comes into sight. */
export function wantsMore({status, cursor, entries}: Listing, lastInSight: number): boolean {
    return status === 'ready' && cursor !== undefined && lastInSight >= entries.length - 30;
}
