import type {ApiError} from '../client';
import type {Connection, Method} from '../types';

/** Where the connect dialog stands. `busy`: the user asked for something and the answer is not there yet. */
export type View =
    | {step: 'loading'}
    | {step: 'unconfigured'}
    | {step: 'failed'; problem: ApiError}

    // The host is connected without an act of the user: the answer is on its way.
    | {step: 'connecting'; connection: Connection}

    // `method` is how the user wants to connect; `expired`: he took too long on the host's page.
    | {step: 'disconnected'; connection: Connection; method: Method; busy: boolean; expired?: boolean; problem?: ApiError}

    // The user is on a page of the host's; `page` is absent when he only has a code to type.
    | {step: 'waiting'; connection: Connection; method: Method; page?: Page; busy: boolean; problem?: ApiError}

    // The user has signed in, and is to say whether that is his account.
    | {step: 'pending'; connection: Connection; busy: boolean; problem?: ApiError}
    | {step: 'connected'; connection: Connection; busy: boolean; problem?: ApiError};

/** The dialog at one of its steps. */
export type At<Step extends View['step']> = Extract<View, {step: Step}>;

/** A page of the host's on which the user signs in. */
export type Page = {
    address: string;

    /** The browser has not opened the window. */
    blocked: boolean;

    /** For how long the sign-in goes on, in milliseconds; absent when it comes back to Mattermost. */
    lifetime?: number;
};

/** What happens to the dialog. */
export type Event =

    // The state of the connection is asked for again, from the start.
    | {type: 'asked'}

    // An answer told the state of the connection.
    | {type: 'learned'; connection: Connection}

    // The method without an act of the user has refused him; the connection says why.
    | {type: 'refused'; connection: Connection}

    // The user asked for a change.
    | {type: 'submitted'}
    | {type: 'failed'; problem: ApiError}
    | {type: 'chosen'; method: Method}
    | {type: 'signingIn'; method: Method; page: Page}
    | {type: 'expired'}
    | {type: 'codeOffered'}
    | {type: 'disconnected'};

/** The dialog before the first answer. */
export const initial: View = {step: 'loading'};

/** The dialog after an event. An event that has no meaning where the dialog stands changes nothing. */
export function reduce(view: View, event: Event): View {
    switch (event.type) {
    case 'asked':
        return initial;
    case 'learned':
        return learned(view, event.connection);
    case 'refused':
        return disconnected(event.connection);
    case 'failed':
        return failed(view, event.problem);
    case 'submitted':
        return 'busy' in view ? withoutProblem({...view, busy: true}) : view;
    case 'chosen':
        return 'connection' in view ? disconnected(view.connection, event.method) : view;
    case 'signingIn':
        return 'connection' in view ? {step: 'waiting', connection: view.connection, method: event.method, page: event.page, busy: false} : view;
    case 'expired':
        return view.step === 'waiting' ? {...disconnected(view.connection, view.method), expired: true} : view;
    case 'codeOffered':
        return view.step === 'disconnected' ? {step: 'waiting', connection: view.connection, method: view.method, busy: false} : view;
    case 'disconnected':
        return 'connection' in view ? disconnected(ended(view.connection)) : view;
    }
}

function learned(view: View, connection: Connection): View {
    if (connection.pending) {
        return {step: 'pending', connection, busy: false};
    }
    if (connection.state === 'connected') {
        return {step: 'connected', connection, busy: false};
    }
    if (connection.automatic && (view.step === 'loading' || view.step === 'connected')) {
        return {step: 'connecting', connection};
    }

    // The user is still at it: only an account ends the wait, or that the host's was refused.
    if (view.step === 'waiting' && connection.refused?.method !== view.method) {
        return withoutProblem({...view, connection, busy: false});
    }

    // What he has chosen stays.
    if (view.step === 'disconnected' && connection.methods.includes(view.method)) {
        return disconnected(connection, view.method);
    }
    return disconnected(connection);
}

function disconnected(connection: Connection, method: Method = connection.method): At<'disconnected'> {
    return {step: 'disconnected', connection, method, busy: false};
}

function failed(view: View, problem: ApiError): View {
    if (problem.code === 'not_configured') {
        return {step: 'unconfigured'};
    }
    if (view.step === 'connecting' || (view.step === 'pending' && problem.code === 'not_found')) {
        const {pending, ...connection} = view.connection;
        return {step: 'disconnected', connection, method: connection.method, busy: false, problem};
    }
    return 'connection' in view ? {...view, busy: false, problem} : {step: 'failed', problem};
}

function withoutProblem<T extends {problem?: ApiError}>(view: T): T {
    const rest = {...view};
    delete rest.problem;
    return rest;
}

/** What is left of a connection that the user has ended: nothing brings it back but his own act. */
function ended({host, method, methods}: Connection): Connection {
    return {state: 'not_connected', host, method, methods, automatic: false};
}
