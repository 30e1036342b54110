import {useCallback, useEffect, useReducer, useRef} from 'react';

import {asApiError, type Client, type Target} from '../client';
import type {Entry, FileInfo} from '../types';
import {newKey} from './key';
import {isSettled, next, reduceTransfer, undelivered, type Transfer} from './transfer';

/** Files that are copied at once: as many as the server does for one user. */
const atOnce = 2;

/** What the user can do about files that are on their way. */
export type TransferActions = {
    start: (entries: readonly Entry[]) => void;
    cancel: (id: string) => void;
    retry: (id: string) => void;

    /** Gives up what is under way, and shows nothing of it any more. */
    dismiss: () => void;
};

/** Copies files for a message, and hands those that came to `deliver` once nothing is on its way any more. */
export function useTransfer(client: Client, target: Target | undefined, deliver: (infos: readonly FileInfo[]) => void): [Transfer, TransferActions] {
    const [transfer, dispatch] = useReducer(reduceTransfer, []);
    const running = useRef(new Map<string, AbortController>());

    const copy = useCallback((entry: Entry, key: string) => {
        if (!target) {
            return;
        }
        const request = new AbortController();
        running.current.set(entry.id, request);
        dispatch({type: 'began', id: entry.id});
        client.copyForDraft(target, entry, key, request.signal).then(
            (info) => {
                if (!request.signal.aborted) {
                    dispatch({type: 'copied', id: entry.id, info});
                }
            },
            (error: unknown) => {
                if (!request.signal.aborted) {
                    dispatch({type: 'failed', id: entry.id, problem: asApiError(error)});
                }
            },
        );
    }, [client, target]);

    useEffect(() => {
        for (const {entry, key} of next(transfer, atOnce)) {
            copy(entry, key);
        }
    }, [transfer, copy]);

    useEffect(() => {
        const ready = isSettled(transfer) ? undelivered(transfer) : [];
        if (ready.length > 0) {
            deliver(ready);
            dispatch({type: 'delivered'});
        }
    }, [transfer, deliver]);

    const abortAll = useCallback(() => {
        for (const request of running.current.values()) {
            request.abort();
        }
        running.current.clear();
    }, []);
    useEffect(() => abortAll, [abortAll]);

    return [transfer, {
        start: (entries) => {
            dispatch({type: 'started', entries, key: newKey});
        },
        cancel: (id) => {
            running.current.get(id)?.abort();
            dispatch({type: 'cancelled', id});
        },
        retry: (id) => {
            dispatch({type: 'retried', id, key: newKey});
        },
        dismiss: () => {
            abortAll();
            dispatch({type: 'dismissed'});
        },
    }];
}
