import {useCallback, useEffect, useReducer, useRef} from 'react';

import {ApiError, type Client} from '../client';
import type {Signal} from '../signal';
import {initial, reduce, type Event, type View} from './connection';

/** What the user can do in the connect dialog. */
export type Actions = {
    retry: () => void;
    signIn: () => void;
    offerCode: () => void;
    connectWithPassword: (username: string, password: string) => void;
    confirm: (code: string) => void;
    disconnect: () => void;
};

/**
 * The state of the connect dialog, kept up to date: it asks the API when the
 * dialog opens, whenever `changed` is emitted, and while the user is on the
 * host's sign-in page also when this window gets the focus back.
 */
export function useConnection(client: Client, changed: Signal): [View, Actions] {
    const [view, dispatch] = useReducer(reduce, initial);
    const perform = useLatest(dispatch);

    const check = useCallback(() => {
        perform(async (signal) => ({type: 'learned', connection: await client.connection(signal)}));
    }, [client, perform]);

    const submit = useCallback((work: (signal: AbortSignal) => Promise<Event>) => {
        dispatch({type: 'submitted'});
        perform(work);
    }, [perform]);

    useEffect(check, [check]);

    // While an answer to the user is on its way, another question would only overtake it.
    const busy = 'busy' in view && view.busy;
    useEffect(() => (busy ? undefined : changed.subscribe(check)), [busy, changed, check]);

    const waiting = view.step === 'waiting' && !busy;
    useEffect(() => {
        if (!waiting) {
            return undefined;
        }
        window.addEventListener('focus', check);
        return () => {
            window.removeEventListener('focus', check);
        };
    }, [waiting, check]);

    return [view, {
        retry: () => {
            dispatch({type: 'asked'});
            check();
        },
        signIn: () => {
            submit(async (signal) => {
                const page = await client.signIn(signal);

                // A browser may block this window: the dialog shows the address as a link, too.
                window.open(page, '_blank', 'noopener,noreferrer');
                return {type: 'signingIn', page};
            });
        },
        offerCode: () => {
            dispatch({type: 'codeOffered'});
        },
        connectWithPassword: (username, password) => {
            submit(async (signal) => ({type: 'learned', connection: await client.connectWithPassword(username, password, signal)}));
        },
        confirm: (code) => {
            submit(async (signal) => ({type: 'learned', connection: await client.confirm(code, signal)}));
        },
        disconnect: () => {
            submit(async (signal) => {
                await client.disconnect(signal);
                return {type: 'disconnected'};
            });
        },
    }];
}

/** Runs one piece of work at a time; a new one, or the end of the component, takes the word from the one before. */
function useLatest(dispatch: (event: Event) => void): (work: (signal: AbortSignal) => Promise<Event>) => void {
    const current = useRef<AbortController | null>(null);

    useEffect(() => () => {
        current.current?.abort();
    }, []);

    return useCallback((work) => {
        current.current?.abort();
        const own = new AbortController();
        current.current = own;
        work(own.signal).then(
            (event) => {
                if (!own.signal.aborted) {
                    dispatch(event);
                }
            },
            (error: unknown) => {
                if (!own.signal.aborted) {
                    dispatch({type: 'failed', problem: asApiError(error)});
                }
            },
        );
    }, [dispatch]);
}

function asApiError(error: unknown): ApiError {
    return error instanceof ApiError ? error : new ApiError({code: 'unreadable', message: String(error)}, 0);
}
