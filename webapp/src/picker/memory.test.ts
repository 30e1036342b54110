import {afterEach, describe, expect, it, vi} from 'vitest';

import {blank, recall, remember, type Memory} from './memory';
import {home} from './place';

const memory: Memory = {place: {...home, path: '/Photos', words: 'beach'}, arrangement: {sort: 'size', order: 'desc', kind: 'images'}, tiles: true};

afterEach(() => {
    localStorage.clear();
});

describe('what is remembered', () => {
    it('is each user’s and each host’s own, and no search', () => {
        remember('me', 'default', memory);
        expect(recall('me', 'default')).toEqual({...memory, place: {...home, path: '/Photos'}});
        expect(recall('you', 'default')).toEqual(blank);
        expect(recall('me', 'other')).toEqual(blank);
    });

    it.each(['', 'nonsense', 'null', '{}', '{"place":{"view":"all","path":"/"}}', JSON.stringify({...memory, tiles: 'yes'}), JSON.stringify({...memory, arrangement: {sort: 'luck'}})])(
        'is nothing when it does not look like it: %s', (kept) => {
            localStorage.setItem('filehost-attach:me:default', kept);
            expect(recall('me', 'default')).toEqual(blank);
        });

    it('is nothing where the browser keeps nothing', () => {
        vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
            throw new DOMException('No.', 'QuotaExceededError');
        });
        remember('me', 'default', memory);
        expect(recall('me', 'default')).toEqual(blank);
    });
});
