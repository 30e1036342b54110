import type {ApiError} from '../client';
import type {Connection} from '../types';

/** Where the connect dialog stands. `busy`: the user asked for something and the answer is not there yet. */
export type View =
    | {step: 'loading'}
    | {step: 'unconfigured'}
    | {step: 'failed'; problem: ApiError}
    | {step: 'disconnected'; connection: Connection; busy: boolean; problem?: ApiError}

    // The user is on the host's sign-in page; `page` is absent when he only has a code to type.
    | {step: 'waiting'; connection: Connection; page?: string; busy: boolean; problem?: ApiError}
    | {step: 'connected'; connection: Connection; busy: boolean; problem?: ApiError};

/** What happens to the dialog. */
export type Event =

    // The state of the connection is asked for again, from the start.
    | {type: 'asked'}

    // An answer told the state of the connection.
    | {type: 'learned'; connection: Connection}

    // The user asked for a change.
    | {type: 'submitted'}
    | {type: 'failed'; problem: ApiError}
    | {type: 'signingIn'; page: string}
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
    case 'failed':
        return failed(view, event.problem);
    case 'submitted':
        return 'connection' in view ? {...withoutProblem(view), busy: true} : view;
    case 'signingIn':
        return 'connection' in view ? {step: 'waiting', connection: view.connection, page: event.page, busy: false} : view;
    case 'codeOffered':
        return view.step === 'disconnected' ? {step: 'waiting', connection: view.connection, busy: false} : view;
    case 'disconnected':
        return 'connection' in view ? {step: 'disconnected', connection: ended(view.connection), busy: false} : view;
    }
}

function learned(view: View, connection: Connection): View {
    if (connection.state === 'connected') {
        return {step: 'connected', connection, busy: false};
    }

    // The user is still at it: only a connection ends the wait.
    if (view.step === 'waiting') {
        return {...withoutProblem(view), connection, busy: false};
    }
    return {step: 'disconnected', connection, busy: false};
}

function failed(view: View, problem: ApiError): View {
    if (problem.code === 'not_configured') {
        return {step: 'unconfigured'};
    }
    return 'connection' in view ? {...view, busy: false, problem} : {step: 'failed', problem};
}

function withoutProblem<T extends {problem?: ApiError}>({problem, ...view}: T): Omit<T, 'problem'> {
    return view;
}

/** What is left of a connection that the user has ended. */
function ended({host, method}: Connection): Connection {
    return {state: 'not_connected', host, method};
}
