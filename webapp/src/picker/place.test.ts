import {describe, expect, it} from 'vitest';

import {entry} from '../test/files';
import {above, arrangementOf, crumbs, home, inside, usual, type Place} from './place';

const summer: Place = {...home, path: '/Photos/Summer'};
const nameless: Place = {...home, id: 'id:7', name: 'caf�'};

describe('a place', () => {
    it.each<[string, Place, (string | undefined)[], string[]]>([
        ['the top', home, [undefined], ['/']],
        ['a folder in a folder', summer, [undefined, 'Photos', 'Summer'], ['/', '/Photos', '/Photos/Summer']],
        ['a folder without a path', nameless, [undefined, 'caf�'], ['/', '/']],
    ])('has a way to it: %s', (_, place, names, paths) => {
        const trail = crumbs(place);
        expect(trail.map(({name}) => name)).toEqual(names);
        expect(trail.map(({place: {path}}) => path)).toEqual(paths);
    });

    it.each<[string, Place, Place | undefined]>([
        ['a search, the folder it was made in', {...summer, words: 'beach'}, summer],
        ['a view, the top', {...home, view: 'recent'}, home],
        ['a folder, the one that it is in', summer, {...home, path: '/Photos'}],
        ['a folder without a path, the top', nameless, home],
        ['the top, nothing', home, undefined],
    ])('has above it: %s', (_, place, expected) => {
        expect(above(place)).toEqual(expected);
    });

    it('is inside a folder by its path, or by its id where it has no path', () => {
        expect(inside(entry('/Photos'))).toEqual({...home, path: '/Photos'});
        expect(inside(entry('/x', {path: '', id: 'id:7', name: 'caf�'}))).toEqual(nameless);
    });

    it('has the newest first where that is what it is for', () => {
        const bySize = {...usual, sort: 'size' as const};
        expect(arrangementOf({...home, view: 'recent'}, bySize)).toEqual({...bySize, sort: 'modified', order: 'desc'});
        expect(arrangementOf({...home, view: 'favorites'}, bySize)).toEqual(bySize);
    });
});
