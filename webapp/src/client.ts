import type {Attached, Connection, Entry, ErrorBody, ErrorCode, FileInfo, ListingView, Method, Order, Page, Sort} from './types';

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

/** An error of a call as the one kind that there is. */
export function asApiError(error: unknown): ApiError {
    return error instanceof ApiError ? error : new ApiError({code: 'unreadable', message: String(error)}, 0);
}

/** What connecting has come to: a page to go on at, or the new connection. */
export type Begun =
    | {page: string; lifetime?: number}
    | {connection: Connection};

/** A page of a listing, as it is asked for. */
export type PageQuery = {
    view: ListingView;

    /** Of the folder; its id where it has no path. */
    path: string;
    id?: string | undefined;

    /** A part of the names that are looked for; empty: all. */
    words: string;

    /** Kinds and MIME types, or their beginnings; empty: all. */
    types: readonly string[];
    sort: Sort;
    order: Order;
    limit: number;
    cursor?: string | undefined;
};

/** Where files go: a channel, or a thread in it. */
export type Target = {channelId: string; rootId: string};

/** A file to copy. With an ETag, only that version of it. */
export type Item = Pick<Entry, 'id' | 'etag'>;

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

    /** Lists a folder, a view or what a search finds, page by page. */
    list: (query: PageQuery, signal?: AbortSignal) => Promise<Page>;

    /** The address of a small image of a file, which fits into a square of so many pixels. */
    thumbnail: (entry: Entry, pixels: number) => string;

    /** Copies a file for a message that is not sent yet. The same key never copies it twice. */
    copyForDraft: (target: Target, item: Item, key: string, signal?: AbortSignal) => Promise<FileInfo>;

    /** Copies files and posts them at once. The same key never posts them twice. */
    post: (target: Target, items: readonly Item[], key: string, signal?: AbortSignal) => Promise<Attached>;
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
        list: async (query, signal) => json<Page>(await call(`${base}/files?${listingParameters(query)}`, {method: 'GET', signal})),
        thumbnail: ({id, path, etag}, pixels) => `${base}/thumbnail?${parameters({...(path === '' ? {id} : {path}), size: pixels, etag})}`,
        copyForDraft: async (target, item, key, signal) => {
            const body = attachment(target, [item], 'draft');
            const attached = await json<Attached>(await call(`${base}/attach`, {method: 'POST', body, key, signal}));
            const info = attached.file_infos?.[0];
            if (!info) {
                throw new ApiError({code: 'unreadable', message: 'The answer has no file.'}, 201);
            }
            return info;
        },
        post: async (target, items, key, signal) =>
            json<Attached>(await call(`${base}/attach`, {method: 'POST', body: attachment(target, items, 'copy'), key, signal})),
    };
}

function attachment({channelId, rootId}: Target, items: readonly Item[], as: 'draft' | 'copy'): Record<string, unknown> {
    return {
        channel_id: channelId,
        ...(rootId && {root_id: rootId}),
        items: items.map(({id, etag}) => (etag === undefined ? {id} : {id, etag})),
        as,
    };
}

function listingParameters({path, id, words, types, ...rest}: PageQuery): string {
    const query = parameters({...(id === undefined ? {path} : {id}), q: words || undefined, ...rest});
    return [query, ...types.map((type) => parameters({type}))].join('&');
}

function parameters(values: Record<string, string | number | undefined>): string {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(values)) {
        if (value !== undefined) {
            query.set(name, String(value));
        }
    }
    return query.toString();
}

type Request = {
    method: 'GET' | 'POST' | 'DELETE';
    body?: Record<string, unknown>;

    /** Makes it safe to send the same again. */
    key?: string;
    signal: AbortSignal | undefined;
};

/** Calls a route as the user who is logged in; rejects as {@link Client} does. */
export async function call(address: string, {method, body, key, signal}: Request): Promise<Response> {
    const headers: Record<string, string> = {'X-Requested-With': 'XMLHttpRequest', 'X-CSRF-Token': csrfToken()};
    if (body) {
        headers['Content-Type'] = 'application/json';
    }
    if (key !== undefined) {
        headers['Idempotency-Key'] = key;
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

/** The body of an answer. */
export async function json<T>(answer: Response): Promise<T> {
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
