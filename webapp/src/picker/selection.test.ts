import {describe, expect, it} from 'vitest';

import {entry} from '../test/files';
import type {Entry} from '../types';
import {add, has, remove, roomLeft, sizeOf, toggle, unfit, type Room, type Unfit} from './selection';

const room: Room = {files: 3, file_size: 100, total_size: 150, taken: 0, together: false};
const file = (name: string, size = 60) => entry(`/${name}.pdf`, {size});
const [a, b, c, d] = [file('a'), file('b'), file('c'), file('d')];

describe('a selection', () => {
    it.each<[Entry, Unfit | undefined]>([
        [file('fits', 100), undefined],
        [file('large', 101), 'large'],
        [file('empty', 0), 'empty'],
        [entry('/locked.pdf', {permissions: ['write']}), 'unreadable'],
        [entry('/folder'), 'folder'],
    ])('knows what fits: $name', (one, expected) => {
        expect(unfit(one, room)).toBe(expected);
    });

    it('has each file once, in the order in which they were chosen', () => {
        const {selection} = add([b], [a, b, c], room);
        expect(selection).toEqual([b, a, c]);
        expect(has(selection, a)).toBe(true);
        expect(remove(selection, a)).toEqual([b, c]);
        expect(sizeOf(selection)).toBe(180);
        expect(roomLeft(selection, room)).toBe(0);
    });

    it('passes over what can never be attached', () => {
        expect(add([], [entry('/folder'), file('empty', 0), a], room)).toEqual({selection: [a]});
    });

    it.each<[string, Partial<Room>, Entry[], ReturnType<typeof add>]>([
        ['as many as a message takes', {}, [a, b, c, d], {selection: [a, b, c], full: 'files'}],
        ['fewer where the message has some already', {taken: 2}, [a, b], {selection: [a], full: 'files'}],
        ['none where it is full', {taken: 5}, [a], {selection: [], full: 'files'}],
        ['as much as one request takes, where it is one', {together: true}, [a, b, c], {selection: [a, b], full: 'total'}],
    ])('stops at the limits: %s', (_, changed, entries, expected) => {
        expect(add([], entries, {...room, ...changed})).toEqual(expected);
    });

    it('lets go of what is chosen twice, also when it is full', () => {
        expect(toggle([a, b, c], b, room)).toEqual({selection: [a, c]});
        expect(toggle([a, b], c, room)).toEqual({selection: [a, b, c]});
        expect(toggle([a, b, c], d, room)).toEqual({selection: [a, b, c], full: 'files'});
    });
});
