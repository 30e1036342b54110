import type {Connection, ErrorBody, ErrorCode, Method} from './types';

/** A call that did not succeed, as the API said it, or `offline` / `unreadable` when the API said nothing. */
export class ApiError extends Error {
    readonly code: ErrorCode;

    /** The HTTP status; 0 when there was no answer. */
    readonly status: number;

    /** What an admin finds in the server's log. */
    readonly requestId: string | undefined;

    /** Typed per code, see the API's contract. */
    readonly details: Record<string, unknown> | undefined;

    constructor(body: Pick<ErrorBody, 'code' | 'message'> & Partial<ErrorBody>, status: number) {
        super(body.message);
        this.name = 'ApiError';
        this.code = body.code;
        this.status = status;
        this.requestId = body.request_id;
        this.details = body.details;
    }
}

/** What connecting has come to: a page to go on at, or the new connection. */
export type Begun =
    | {page: string; lifetime?: number}
    | {connection: Connection};

/**
 * The plugin's own HTTP API, as the user who is logged in. Every method rejects
 * with an {@link ApiError}, or with the signal's reason once the signal is aborted.
 */
export type Client = {

    /** Tells whether and as whom the user is connected. */
    connection: (signal?: AbortSignal) => Promise<Connection>;

    /**
     * Begins to connect by a method, or by the best one. A page of the host's is where the user goes on; its
     * lifetime, in milliseconds, is known where the sign-in does not come back to Mattermost.
     */
    begin: (method?: Method, signal?: AbortSignal) => Promise<Begun>;

    /** Connects the account that waits for the user's word, or lets it go. */
    accept: (accept: boolean, signal?: AbortSignal) => Promise<Connection>;

    /** Connects with an app password of the host. */
    connectWithPassword: (username: string, password: string, signal?: AbortSignal) => Promise<Connection>;

    /** Completes a sign-in with the code that its last page showed. */
    confirm: (code: string, signal?: AbortSignal) => Promise<Connection>;

    /** Revokes the access and forgets it. */
    disconnect: (signal?: AbortSignal) => Promise<void>;
};

/** A client of the plugin's API on the site with this subpath ("" or such as "/chat"). */
export function createClient(subpath: string): Client {
    const base = `${subpath}/plugins/filehost-attach/api`;

    return {
        connection: async (signal) => json<Connection>(await call(`${base}/connection`, {method: 'GET', signal})),
        begin: async (method, signal) => {
            const answer = await call(`${base}/connection`, {method: 'POST', body: method ? {method} : {}, signal});
            return begun(await json<BegunBody>(answer), answer);
        },
        accept: async (accept, signal) =>
            json<Connection>(await call(`${base}/connection`, {method: 'POST', body: {accept}, signal})),
        connectWithPassword: async (username, password, signal) =>
            json<Connection>(await call(`${base}/connection`, {method: 'POST', body: {username, password}, signal})),
        confirm: async (code, signal) =>
            json<Connection>(await call(`${base}/connection`, {method: 'POST', body: {confirm: code}, signal})),
        disconnect: async (signal) => {
            await call(`${base}/connection`, {method: 'DELETE', signal});
        },
    };
}

type Request = {
    method: 'GET' | 'POST' | 'DELETE';
    body?: Record<string, string | boolean>;
    signal: AbortSignal | undefined;
};

async function call(address: string, {method, body, signal}: Request): Promise<Response> {
    const headers: Record<string, string> = {'X-Requested-With': 'XMLHttpRequest', 'X-CSRF-Token': csrfToken()};
    if (body) {
        headers['Content-Type'] = 'application/json';
    }

    let answer: Response;
    try {
        answer = await fetch(address, {
            method,
            headers,
            body: body ? JSON.stringify(body) : null,
            signal: signal ?? null,
            credentials: 'same-origin',
        });
    } catch (error) {
        signal?.throwIfAborted();
        throw new ApiError({code: 'offline', message: String(error)}, 0);
    }
    if (!answer.ok) {
        throw await failure(answer);
    }
    return answer;
}

/** The token that the server wants beside the session's cookie, or the call counts as nobody's. */
function csrfToken(): string {
    const cookie = document.cookie.split('; ').find((pair) => pair.startsWith('MMCSRF='));
    return cookie?.slice('MMCSRF='.length) ?? '';
}

async function json<T>(answer: Response): Promise<T> {
    try {
        return await answer.json() as T;
    } catch (error) {
        throw new ApiError({code: 'unreadable', message: String(error)}, answer.status);
    }
}

/** What a refused call means. A proxy in between may answer anything, so the shape is checked. */
async function failure(answer: Response): Promise<ApiError> {
    const body: unknown = await answer.json().catch(() => null);
    if (isErrorBody(body)) {
        return new ApiError(body, answer.status);
    }
    return new ApiError({code: 'unreadable', message: answer.statusText}, answer.status);
}

function isErrorBody(body: unknown): body is ErrorBody {
    return typeof body === 'object' && body !== null &&
        'code' in body && typeof body.code === 'string' &&
        'message' in body && typeof body.message === 'string';
}

type BegunBody = Connection | {authorize_url: string} | {login_url: string; expires_at: string};

function begun(body: BegunBody, answer: Response): Begun {
    if ('authorize_url' in body) {
        return {page: webAddress(body.authorize_url, answer.status)};
    }
    if ('login_url' in body) {
        // By the server's clock: this one may be wrong.
        const now = Date.parse(answer.headers.get('Date') ?? '') || Date.now();
        return {page: webAddress(body.login_url, answer.status), lifetime: Date.parse(body.expires_at) - now};
    }
    return {connection: body};
}

/** Lets a web address through and nothing that a browser would run as a script. */
function webAddress(address: string, status: number): string {
    const {protocol} = URL.canParse(address) ? new URL(address) : {protocol: ''};
    if (protocol !== 'https:' && protocol !== 'http:') {
        throw new ApiError({code: 'unreadable', message: 'The sign-in page is no web address.'}, status);
    }
    return address;
}
