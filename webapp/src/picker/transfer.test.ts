import {describe, expect, it} from 'vitest';

import {ApiError} from '../client';
import {entry} from '../test/files';
import type {ErrorCode} from '../types';
import {isSettled, next, reduceTransfer, tally, undelivered, type Transfer, type TransferEvent} from './transfer';

const entries = ['a', 'b', 'c'].map((name) => entry(`/${name}.pdf`));
const [a, b, c] = ['id:/a.pdf', 'id:/b.pdf', 'id:/c.pdf'] as [string, string, string];
const info = (id: string) => ({id: `info-${id}`, name: id, size: 1});
const problem = (code: ErrorCode) => new ApiError({code, message: 'No.'}, 400);

let count = 0;
const key = () => `key-${count++}`;
const after = (...events: TransferEvent[]) => {
    count = 0;
    return [{type: 'started', entries, key} as const, ...events].reduce<Transfer>(reduceTransfer, []);
};
const states = (transfer: Transfer) => transfer.map(({state}) => state);

describe('a transfer', () => {
    it('copies so many at once, in order', () => {
        const transfer = after();
        expect(next(transfer, 2).map(({entry: {id}}) => id)).toEqual([a, b]);
        const begun = after({type: 'began', id: a}, {type: 'began', id: b});
        expect(next(begun, 2)).toEqual([]);
        expect(next(reduceTransfer(begun, {type: 'copied', id: a, info: info(a)}), 2).map(({entry: {id}}) => id)).toEqual([c]);
    });

    it('is settled when nothing is on its way, and gives out in order what came, once', () => {
        const almost = after({type: 'copied', id: c, info: info(c)}, {type: 'copied', id: a, info: info(a)});
        expect(isSettled(almost)).toBe(false);
        const settled = reduceTransfer(almost, {type: 'failed', id: b, problem: problem('timeout')});
        expect(isSettled(settled)).toBe(true);
        expect(tally(settled)).toEqual({waiting: 0, copying: 0, done: 2, failed: 1, cancelled: 0});
        expect(undelivered(settled)).toEqual([info(a), info(c)]);
        expect(undelivered(reduceTransfer(settled, {type: 'delivered'}))).toEqual([]);
    });

    it('cancels what is on its way, and nothing that is over', () => {
        const transfer = after({type: 'began', id: a}, {type: 'copied', id: b, info: info(b)}, ...[a, b, c].map((id) => ({type: 'cancelled', id}) as const));
        expect(states(transfer)).toEqual(['cancelled', 'done', 'cancelled']);
    });

    it.each<[ErrorCode, string]>([
        ['offline', 'key-0'],
        ['timeout', 'key-0'],
        ['host_unavailable', 'key-0'],
        ['conflict', 'key-0'],
        ['not_found', 'key-3'],
        ['changed', 'key-3'],
        ['key_reused', 'key-3'],
    ])('tries again after %s with the key %s', (code, expected) => {
        const [job] = after({type: 'failed', id: a, problem: problem(code)}, {type: 'retried', id: a, key});
        expect(job).toMatchObject({state: 'waiting', key: expected});
        expect(job?.problem).toBeUndefined();
    });

    it('takes a file that has changed as it is now, when it is wanted all the same', () => {
        const [changed, slow] = after(
            {type: 'failed', id: a, problem: problem('changed')}, {type: 'retried', id: a, key},
            {type: 'failed', id: b, problem: problem('timeout')}, {type: 'retried', id: b, key},
        );
        expect(changed?.entry.etag).toBeUndefined();
        expect(slow?.entry.etag).toBe('"1"');
    });

    it('is forgotten when it is dismissed', () => {
        expect(after({type: 'dismissed'})).toEqual([]);
    });
});
