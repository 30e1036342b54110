import {vi} from 'vitest';

import type {Connection, Entry, Method, Pending} from '../types';
import {answerFiles, tree} from './files';

const site = '/plugins/filehost-attach/api';

type Body = {username: string; password: string} | {confirm: string} | {accept: boolean} | {method?: Method};

type AttachBody = {items: {id: string; etag?: string}[]; as: string; channel_id: string; root_id?: string};

/** An answer that the next call gets instead of the right one; a function is asked at the time of the call. */
type Fault = Response | Error;

/**
 * A server that behaves as the plugin does towards one user who is logged in:
 * it takes the place of `fetch` and refuses calls that the real one would refuse.
 */
export class Server {
    readonly calls: string[] = [];

    /** The code that completes a sign-in which ended without a session. */
    readonly code = 'K7QM';
    connection: Connection;

    #faults: Fault[] = [];
    #gate: Promise<void> = Promise.resolve();
    #held: string | undefined;

    constructor(connection: Partial<Connection> = {}) {
        const {method = connection.methods?.[0] ?? 'oauth'} = connection;
        this.connection = {
            state: 'not_connected',
            host: {id: 'default', name: 'Company Cloud', kind: 'nextcloud'},
            methods: [method],
            automatic: false,
            ...connection,
            method,
        };
        document.cookie = 'MMCSRF=secret-of-the-session';
        vi.stubGlobal('fetch', this.#fetch);
    }

    /** All files and folders of the host. */
    entries: Entry[] = tree();

    /** Entries of a page, at most. */
    pageSize = 1000;

    /** Files that can't be copied, by name. */
    readonly broken = new Map<string, [status: number, code: string, message: string]>();

    /** What was attached, in order. */
    readonly attached: {as: string; key: string; channelId: string; rootId: string | undefined; names: string[]}[] = [];

    /** Why the method without an act of the user refuses him; undefined = it does not. */
    refuses: string | undefined;

    /** Answers of further routes, by method and path below the API, such as "POST /save". */
    readonly routes = new Map<string, (body: Record<string, unknown>) => Response>();

    /** Makes the next call fail. */
    failNext(fault: Fault): void {
        this.#faults.push(fault);
    }

    /** Holds all calls back, or those by one method, until the function it returns is called. */
    hold(method?: string): () => void {
        let release: () => void = () => undefined;
        this.#held = method;
        this.#gate = new Promise((resolve) => {
            release = resolve;
        });
        return release;
    }

    /** The user finishes the sign-in on the host's page. */
    finishSignIn(account = 'alice'): void {
        const {pending, refused, ...rest} = this.connection;
        this.connection = {...rest, state: 'connected', account, grant: 'authorization_code', since: '2026-11-20T09:30:00Z'};
    }

    /** The user finishes a sign-in whose account he has to see first. */
    offer(pending: Partial<Pending> = {}): void {
        this.connection = {...this.connection, pending: {account: 'alice', expires_at: '2026-11-21T12:05:00Z', ...pending}};
    }

    /** A method has no access for the user: the others come first. */
    refuse(method: Method, reason: string): void {
        const methods = [...this.connection.methods.filter((other) => other !== method), method];
        this.connection = {...this.connection, methods, method: methods[0] ?? method, automatic: false, refused: {method, reason}};
    }

    readonly #fetch = async (address: string, request: RequestInit): Promise<Response> => {
        this.calls.push(`${request.method ?? 'GET'} ${address}`);
        if (this.#held === undefined || this.#held === request.method) {
            await this.#gate;
        }
        request.signal?.throwIfAborted();

        const fault = this.#faults.shift();
        if (fault instanceof Error) {
            throw fault;
        }
        if (fault) {
            return fault;
        }
        const headers = new Headers(request.headers);
        if (headers.get('X-CSRF-Token') !== 'secret-of-the-session' || headers.get('X-Requested-With') !== 'XMLHttpRequest') {
            return refusal(401, 'not_authenticated', 'Log in to Mattermost first.');
        }
        const {pathname, searchParams} = new URL(address, 'https://chat.example.com');
        const route = this.routes.get(`${request.method ?? 'GET'} ${pathname.slice(site.length)}`);
        if (route) {
            return route(request.body ? JSON.parse(request.body as string) as Record<string, unknown> : {});
        }
        switch (pathname) {
        case `${site}/connection`:
            return this.#connection(request);
        case `${site}/files`:
            return this.connection.state === 'connected' ? answerFiles(this.entries, this.pageSize, searchParams) : refusal(424, 'not_connected', 'Connect first.');
        case `${site}/attach`:
            return this.#attach(JSON.parse(request.body as string) as AttachBody, headers.get('Idempotency-Key'));
        default:
            return refusal(404, 'not_found', 'There is no such route.');
        }
    };

    #attach({items, as, channel_id: channelId, root_id: rootId}: AttachBody, key: string | null): Response {
        if (key === null) {
            return refusal(400, 'invalid_request', 'This double wants a key with each copy.');
        }
        const files = items.map(({id}) => this.entries.find((entry) => entry.id === id));
        const bad = files.find((file) => file && this.broken.has(file.name));
        if (bad && as === 'draft') {
            return refusal(...this.broken.get(bad.name) ?? [500, 'internal', 'Broken.']);
        }
        this.attached.push({as, key, channelId, rootId, names: files.map((file) => file?.name ?? '')});
        const infos = files.map((file, index) => ({id: `info-${file?.id ?? index}`, name: file?.name ?? '', size: file?.size ?? 0}));
        const made = infos.map(({name, size}) => {
            const [status, code, message] = this.broken.get(name) ?? [];
            return {path: name, name, size, ...(code && {error: {id: `filehost.${code}`, code, message, status_code: status, request_id: 'req-42'}})};
        });
        return Response.json(as === 'draft' ? {file_infos: infos, items: made} : {post_id: 'post', items: made}, {status: 201});
    }

    #connection(request: RequestInit): Response {
        switch (request.method) {
        case 'GET':
            return Response.json(this.connection);
        case 'DELETE':
            this.#end();
            return new Response(null, {status: 204});
        default:
            return this.#connect(JSON.parse(request.body as string) as Body);
        }
    }

    #end(): void {
        const {host, method, methods} = this.connection;
        this.connection = {state: 'not_connected', host, method, methods, automatic: false};
    }

    #connect(body: Body): Response {
        if ('confirm' in body) {
            if (body.confirm !== this.code) {
                return refusal(400, 'invalid_request', 'This code is not the one that was shown.');
            }
            this.finishSignIn();
            return Response.json(this.connection);
        }
        if ('username' in body) {
            if (body.password !== 'right') {
                return refusal(403, 'forbidden', 'Company Cloud does not accept this user name and password.');
            }
            this.finishSignIn(body.username);
            return Response.json(this.connection);
        }
        if ('accept' in body) {
            return this.#accept(body.accept);
        }
        return this.#begin(body.method ?? this.connection.method);
    }

    #accept(accept: boolean): Response {
        const {pending} = this.connection;
        if (!pending) {
            return refusal(404, 'not_found', 'No account waits to be connected.');
        }
        this.#end();
        if (accept) {
            this.finishSignIn(pending.account);
        }
        return Response.json(this.connection);
    }

    #begin(method: Method): Response {
        if (!this.connection.methods.includes(method)) {
            return refusal(422, 'unsupported', 'Company Cloud is not connected that way.');
        }
        switch (method) {
        case 'oauth':
            return Response.json({authorize_url: 'https://cloud.example.com/authorize?state=1'});
        case 'login_flow':
            return Response.json(
                {login_url: 'https://cloud.example.com/login/v2/flow/1', expires_at: '2026-11-21T12:20:00Z'},
                {headers: {Date: 'Sat, 21 Nov 2026 12:00:00 GMT'}},
            );
        case 'password':
            return refusal(422, 'unsupported', 'Company Cloud is connected with a user name and an app password.');
        default:
            if (this.refuses !== undefined) {
                this.refuse(method, this.refuses);
                return refusal(424, 'not_connected', `Company Cloud gave you no access by an app token. ${this.refuses} Ask your admin.`);
            }
            this.finishSignIn();
            return Response.json(this.connection);
        }
    }
}

/** An error as the API words it. */
export function refusal(status: number, code: string, message: string): Response {
    const body = {id: `filehost.${code}`, code, message, status_code: status, request_id: 'req-42'};
    return Response.json(body, {status});
}
