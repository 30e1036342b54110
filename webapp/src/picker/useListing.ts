import {useCallback, useEffect, useReducer, useRef, useState} from 'react';

import {asApiError, type Client} from '../client';
import {reduceListing, unlisted, type Listing} from './listing';
import {arrangementOf, typesOf, type Arrangement, type Place} from './place';

/** Entries of the first page: few enough to be there at once. */
const firstPage = 100;

/** Entries of the pages after it. */
const furtherPage = 500;

/** The entries at a place, and how to get more of them, or all of them anew. */
export function useListing(client: Client, place: Place, arrangement: Arrangement, onDisconnected: () => void): [Listing, {more: () => void; retry: () => void}] {
    const [listing, dispatch] = useReducer(reduceListing, unlisted);
    const [attempt, setAttempt] = useState(0);
    const current = useRef<AbortController | null>(null);

    const ask = useCallback((cursor: string | undefined) => {
        current.current?.abort();
        const request = new AbortController();
        current.current = request;
        const {sort, order, kind} = arrangementOf(place, arrangement);
        const {view, path, id, words} = place;
        client.list({view, path, id, words, types: typesOf[kind], sort, order, cursor, limit: cursor === undefined ? firstPage : furtherPage}, request.signal).then(
            (page) => {
                if (!request.signal.aborted) {
                    dispatch({type: 'loaded', page});
                }
            },
            (error: unknown) => {
                if (request.signal.aborted) {
                    return;
                }
                const problem = asApiError(error);
                if (problem.code === 'not_connected') {
                    onDisconnected();
                } else if (problem.details?.field === 'cursor') {
                    setAttempt((before) => before + 1);
                } else {
                    dispatch({type: 'failed', problem});
                }
            },
        );
    }, [client, place, arrangement, onDisconnected]);

    useEffect(() => {
        dispatch({type: 'asked'});
        ask(undefined);
        return () => {
            current.current?.abort();
        };
    }, [ask, attempt]);

    const offline = listing.problem?.code === 'offline' && (listing.status === 'failed' || listing.status === 'stuck');
    const retry = useCallback(() => {
        setAttempt((before) => before + 1);
    }, []);
    useEffect(() => {
        if (!offline) {
            return undefined;
        }
        window.addEventListener('online', retry);
        return () => {
            window.removeEventListener('online', retry);
        };
    }, [offline, retry]);

    const {cursor} = listing;
    return [listing, {
        retry,
        more: () => {
            if (cursor !== undefined) {
                dispatch({type: 'askedForMore'});
                ask(cursor);
            }
        },
    }];
}
