import {describe, expect, it} from 'vitest';

import {ApiError} from '../client';
import {entry} from '../test/files';
import type {Page} from '../types';
import {reduceListing, unlisted, wantsMore, type Listing, type ListingEvent} from './listing';

const capabilities = {search: true, recent: true, favorites: true, shared: false, thumbnails: true};
const page = (names: string[], rest: Partial<Page> = {}): Page => ({entries: names.map((name) => entry(`/${name}`)), capabilities, ...rest});
const problem = new ApiError({code: 'timeout', message: 'Too slow.'}, 504);
const after = (...events: ListingEvent[]) => events.reduce(reduceListing, unlisted);
const names = ({entries}: Listing) => entries.map(({name}) => name);

describe('a listing', () => {
    it('begins with nothing, and has a page then', () => {
        const listing = after({type: 'asked'}, {type: 'loaded', page: page(['a', 'b'], {total: 2})});
        expect(listing).toMatchObject({status: 'ready', total: 2, truncated: false});
        expect(names(listing)).toEqual(['a', 'b']);
        expect(listing.cursor).toBeUndefined();
    });

    it('grows by the pages that come after, in which nothing comes twice', () => {
        const first: ListingEvent = {type: 'loaded', page: page(['a', 'b'], {next_cursor: '2'})};
        expect(after(first, {type: 'askedForMore'})).toMatchObject({status: 'more'});
        const listing = after(first, {type: 'askedForMore'}, {type: 'loaded', page: page(['b', 'c'], {truncated: true})});
        expect(names(listing)).toEqual(['a', 'b', 'c']);
        expect(listing).toMatchObject({status: 'ready', truncated: true});
    });

    it('asks for no page after the last', () => {
        const listing = after({type: 'loaded', page: page(['a'])});
        expect(reduceListing(listing, {type: 'askedForMore'})).toBe(listing);
    });

    it('keeps what it has when the next page does not come', () => {
        const listing = after({type: 'loaded', page: page(['a'], {next_cursor: '1'})}, {type: 'askedForMore'}, {type: 'failed', problem});
        expect(listing).toMatchObject({status: 'stuck', problem});
        expect(names(listing)).toEqual(['a']);
        expect(reduceListing(listing, {type: 'askedForMore'})).toMatchObject({status: 'more'});
    });

    it('keeps what the host can do when it is made anew, and nothing else', () => {
        const listing = after({type: 'loaded', page: page(['a'], {next_cursor: '1'})}, {type: 'asked'});
        expect(listing).toEqual({...unlisted, capabilities});
        expect(after({type: 'failed', problem})).toMatchObject({status: 'failed', problem, entries: []});
    });

    it.each<[string, Partial<Listing>, number, boolean]>([
        ['the end comes into sight', {cursor: '1'}, 80, true],
        ['the end is far', {cursor: '1'}, 60, false],
        ['there is no more', {}, 99, false],
        ['the next page is on its way', {cursor: '1', status: 'more'}, 99, false],
        ['the next page did not come', {cursor: '1', status: 'stuck'}, 99, false],
    ])('wants the next page when %s', (_, changed, lastInSight, expected) => {
        const entries = Array.from({length: 100}, (__, index) => entry(`/${index}`));
        expect(wantsMore({...unlisted, status: 'ready', entries, ...changed}, lastInSight)).toBe(expected);
    });
});
