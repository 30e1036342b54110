import {describe, expect, it} from 'vitest';

import {findByName, wishOf, type Layout, type Press, type Wish} from './keys';

const list: Layout = {count: 20, columns: 1, rows: 5, mirrored: false};
const tiles: Layout = {count: 10, columns: 4, rows: 2, mirrored: false};
const press = (key: string, changed: Partial<Press> = {}): Press => ({key, shift: false, command: false, ...changed});
const go = (to: number, range = false): Wish => ({type: 'go', to, range});

describe('keys', () => {
    it.each<[string, Press, number, Layout, Wish | undefined]>([
        ['down', press('ArrowDown'), 3, list, go(4)],
        ['up', press('ArrowUp'), 3, list, go(2)],
        ['up at the first', press('ArrowUp'), 0, list, go(0)],
        ['down at the last', press('ArrowDown'), 19, list, go(19)],
        ['a range', press('ArrowDown', {shift: true}), 3, list, go(4, true)],
        ['a page down', press('PageDown'), 3, list, go(8)],
        ['a page up, not beyond the first', press('PageUp'), 3, list, go(0)],
        ['Home', press('Home'), 7, list, go(0)],
        ['End', press('End'), 7, list, go(19)],
        ['to the end with a range', press('End', {shift: true, command: true}), 7, list, go(19, true)],
        ['sideways in a list', press('ArrowRight'), 3, list, go(3)],
        ['right in tiles', press('ArrowRight'), 3, tiles, go(4)],
        ['left in tiles', press('ArrowLeft'), 3, tiles, go(2)],
        ['right where the first column is there', press('ArrowRight'), 3, {...tiles, mirrored: true}, go(2)],
        ['down in tiles', press('ArrowDown'), 3, tiles, go(7)],
        ['down in tiles where nothing is below', press('ArrowDown'), 7, tiles, go(7)],
        ['up in tiles where nothing is above', press('ArrowUp'), 2, tiles, go(2)],
        ['a page down in tiles', press('PageDown'), 3, tiles, go(9)],
        ['Space', press(' '), 3, list, {type: 'toggle'}],
        ['Enter', press('Enter'), 3, list, {type: 'open'}],
        ['Ctrl+Enter', press('Enter', {command: true}), 3, list, {type: 'attach'}],
        ['Backspace', press('Backspace'), 3, list, {type: 'up'}],
        ['Ctrl+A', press('a', {command: true}), 3, list, {type: 'all'}],
        ['a slash', press('/'), 3, list, {type: 'search'}],
        ['a letter', press('p'), 3, list, {type: 'letter', letter: 'p'}],
        ['a key of the browser', press('r', {command: true}), 3, list, undefined],
        ['Tab', press('Tab'), 3, list, undefined],
        ['Escape', press('Escape'), 3, list, undefined],
    ])('mean: %s', (_, key, at, layout, expected) => {
        expect(wishOf(key, at, layout)).toEqual(expected);
    });

    const names = ['Apple', 'banana', 'Blue', 'cherry', 'bee', 'Éclair'];

    it.each<[string, string, number, number | undefined]>([
        ['the next that begins so', 'b', 0, 1],
        ['the one after the current', 'b', 1, 2],
        ['and around', 'b', 4, 1],
        ['the same letter again', 'bb', 1, 2],
        ['more letters, from the current on', 'bl', 2, 2],
        ['whatever the case', 'É', 0, 5],
        ['nothing', 'x', 0, undefined],
    ])('typed find a name: %s', (_, typed, at, expected) => {
        expect(findByName(names, at, typed, 'en')).toBe(expected);
    });
});
