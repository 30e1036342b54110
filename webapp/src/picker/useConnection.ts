import {useCallback, useEffect, useReducer, useRef} from 'react';

import {ApiError, asApiError, type Client} from '../client';
import type {Signal} from '../signal';
import type {Method} from '../types';
import {initial, reduce, type Event, type View} from './connection';
import {openTab, type Tab} from './tab';

/** What the user can do in the connect dialog. */
export type Actions = {
    retry: () => void;
    choose: (method: Method) => void;

    /** Begins to connect, on a page of the host's or by itself. */
    begin: (method: Method) => void;
    offerCode: () => void;
    connectWithPassword: (username: string, password: string) => void;
    confirm: (code: string) => void;
    accept: (accept: boolean) => void;
    disconnect: () => void;
};

/**
 * The state of the connect dialog, kept up to date: it asks the API when the
 * dialog opens, whenever `changed` is emitted, and while the user is on a page
 * of the host's also when he comes back to this one. What needs no act of his it connects.
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

    const connecting = view.step === 'connecting';
    useEffect(() => {
        if (connecting) {
            perform((signal) => connectByItself(client, signal));
        }
    }, [connecting, client, perform]);

    // While an answer is on its way, another question would only overtake it.
    const busy = connecting || ('busy' in view && view.busy);
    useEffect(() => (busy ? undefined : changed.subscribe(check)), [busy, changed, check]);

    const waiting = view.step === 'waiting' && !busy;
    useEffect(() => {
        if (!waiting) {
            return undefined;
        }
        window.addEventListener('focus', check);
        document.addEventListener('visibilitychange', check);
        return () => {
            window.removeEventListener('focus', check);
            document.removeEventListener('visibilitychange', check);
        };
    }, [waiting, check]);

    const page = view.step === 'waiting' ? view.page : undefined;
    useEffect(() => {
        if (page?.lifetime === undefined) {
            return undefined;
        }
        const timer = window.setTimeout(() => {
            dispatch({type: 'expired'});
        }, page.lifetime);
        return () => {
            window.clearTimeout(timer);
        };
    }, [page]);

    const retry = useCallback(() => {
        dispatch({type: 'asked'});
        check();
    }, [check]);

    return [view, {
        retry,
        choose: (method) => {
            dispatch({type: 'chosen', method});
        },
        begin: (method) => {
            if (method === 'oauth' || method === 'login_flow') {
                const tab = openTab();
                submit((signal) => signIn(client, method, tab, signal));
            } else {
                submit((signal) => connectByItself(client, signal, method));
            }
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
        accept: (accept) => {
            submit(async (signal) => ({type: 'learned', connection: await client.accept(accept, signal)}));
        },
        disconnect: () => {
            submit(async (signal) => {
                await client.disconnect(signal);
                return {type: 'disconnected'};
            });
        },
    }];
}

/** Begins a sign-in and shows its page in the window. */
async function signIn(client: Client, method: Method, tab: Tab, signal: AbortSignal): Promise<Event> {
    try {
        const begun = await client.begin(method, signal);
        if ('connection' in begun) {
            tab.drop();
            return {type: 'learned', connection: begun.connection};
        }
        const {page: address, ...rest} = begun;
        return {type: 'signingIn', method, page: {address, blocked: !tab.show(address), ...rest}};
    } catch (error) {
        tab.drop();
        throw error;
    }
}

/** Connects by a method that needs no act of the user, the best one by itself. That it refuses him is no failure. */
async function connectByItself(client: Client, signal: AbortSignal, method?: Method): Promise<Event> {
    try {
        const begun = await client.begin(method, signal);
        const connection = 'connection' in begun ? begun.connection : await client.connection(signal);
        return {type: connection.state === 'connected' ? 'learned' : 'refused', connection};
    } catch (error) {
        if (error instanceof ApiError && error.code === 'not_connected') {
            return {type: 'refused', connection: await client.connection(signal)};
        }
        throw error;
    }
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
