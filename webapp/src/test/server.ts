import {vi} from 'vitest';

import type {Connection} from '../types';

const site = '/plugins/filehost-attach/api';

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

    constructor(connection: Partial<Connection> = {}) {
        this.connection = {state: 'not_connected', host: {id: 'default', name: 'Company Cloud', kind: 'nextcloud'}, method: 'oauth', ...connection};
        document.cookie = 'MMCSRF=secret-of-the-session';
        vi.stubGlobal('fetch', this.#fetch);
    }

    /** Makes the next call fail. */
    failNext(fault: Fault): void {
        this.#faults.push(fault);
    }

    /** Holds all calls back until the function it returns is called. */
    hold(): () => void {
        let release: () => void = () => undefined;
        this.#gate = new Promise((resolve) => {
            release = resolve;
        });
        return release;
    }

    /** The user finishes the sign-in on the host's page. */
    finishSignIn(account = 'alice'): void {
        this.connection = {...this.connection, state: 'connected', account, grant: 'authorization_code', since: '2026-11-20T09:30:00Z'};
    }

    readonly #fetch = async (address: string, request: RequestInit): Promise<Response> => {
        this.calls.push(`${request.method ?? 'GET'} ${address}`);
        await this.#gate;
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
        if (address !== `${site}/connection`) {
            return refusal(404, 'not_found', 'There is no such route.');
        }
        return this.#connection(request);
    };

    #connection(request: RequestInit): Response {
        switch (request.method) {
        case 'GET':
            return Response.json(this.connection);
        case 'DELETE':
            this.connection = {state: 'not_connected', host: this.connection.host, method: this.connection.method};
            return new Response(null, {status: 204});
        default:
            return this.#connect(JSON.parse(request.body as string) as Record<string, string>);
        }
    }

    #connect(body: Record<string, string>): Response {
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
        return Response.json({authorize_url: 'https://cloud.example.com/authorize?state=1'});
    }
}

/** An error as the API words it. */
export function refusal(status: number, code: string, message: string): Response {
    const body = {id: `filehost.${code}`, code, message, status_code: status, request_id: 'req-42'};
    return Response.json(body, {status});
}
