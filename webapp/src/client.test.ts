import {afterEach, beforeEach, describe, expect, it, vi} from 'vitest';

import {ApiError, createClient, type Client} from './client';
import {entry} from './test/files';
import {refusal, Server} from './test/server';

let server: Server;
let client: Client;

beforeEach(() => {
    server = new Server();
    client = createClient('');
});

afterEach(() => {
    vi.unstubAllGlobals();
});

/** What a call was rejected with. */
async function rejection(call: Promise<unknown>): Promise<unknown> {
    return call.then(() => undefined, (error: unknown) => error);
}

describe('client', () => {
    it('connects, tells the state and disconnects as the user of the session', async () => {
        expect(await client.connection()).toMatchObject({state: 'not_connected', host: {name: 'Company Cloud'}});
        expect(await client.connectWithPassword('bob', 'right')).toMatchObject({state: 'connected', account: 'bob'});
        await client.disconnect();
        expect(await client.connection()).toMatchObject({state: 'not_connected'});
        expect(await client.confirm(server.code)).toMatchObject({state: 'connected', account: 'alice'});
    });

    it('begins to connect by the best method or by another', async () => {
        server.connection.methods = ['token_exchange', 'oauth', 'login_flow'];
        expect(await client.begin('oauth')).toEqual({page: 'https://cloud.example.com/authorize?state=1'});
        expect(await client.begin('login_flow')).toEqual({page: 'https://cloud.example.com/login/v2/flow/1', lifetime: 20 * 60_000});
        server.connection.method = 'token_exchange';
        expect(await client.begin()).toMatchObject({connection: {state: 'connected'}});
    });

    it('accepts an account that waits, and lets one go', async () => {
        server.offer();
        expect(await client.accept(false)).toMatchObject({state: 'not_connected'});
        server.offer({account: 'bob'});
        expect(await client.accept(true)).toMatchObject({state: 'connected', account: 'bob'});
    });

    it('asks for a listing by path or id, with what is wanted of it', async () => {
        server.finishSignIn();
        const query = {view: 'folder', path: '/R&D #1', words: '', types: ['folder', 'image/'], sort: 'name', order: 'asc', limit: 5} as const;
        await client.list(query);
        await client.list({...query, id: 'id:7', words: 'a=b', types: [], cursor: 'c+/'});
        expect(server.calls.map((call) => call.split('?')[1])).toEqual([
            'path=%2FR%26D+%231&view=folder&sort=name&order=asc&limit=5&type=folder&type=image%2F',
            'id=id%3A7&q=a%3Db&view=folder&sort=name&order=asc&limit=5&cursor=c%2B%2F',
        ]);
    });

    it('knows the address of a small image, by the path or else by the id', () => {
        const base = '/plugins/filehost-attach/api/thumbnail?';
        expect(client.thumbnail(entry('/a&b.jpg'), 64)).toBe(`${base}path=%2Fa%26b.jpg&size=64&etag=%221%22`);
        const {etag, ...nameless} = entry('/a.jpg', {path: ''});
        expect(client.thumbnail(nameless, 256)).toBe(`${base}id=id%3A%2Fa.jpg&size=256`);
    });

    it('has no draft without a file', async () => {
        server.failNext(Response.json({items: []}, {status: 201}));
        expect(await rejection(client.copyForDraft({channelId: 'town', rootId: ''}, {id: 'id:1'}, 'key'))).toMatchObject({code: 'unreadable'});
    });

    it('calls below the subpath of the site', async () => {
        await rejection(createClient('/chat').connection());
        expect(server.calls).toEqual(['GET /chat/plugins/filehost-attach/api/connection']);
    });

    it('sends the CSRF token of a cookie that is not the first', async () => {
        document.cookie = 'AAA=1';
        expect(await client.connection()).toMatchObject({state: 'not_connected'});
    });

    it.each([
        {name: 'an error of the API', fault: refusal(429, 'rate_limited', 'Try later.'), want: {code: 'rate_limited', status: 429, message: 'Try later.', requestId: 'req-42'}},
        {name: 'a page of a proxy', fault: new Response('<html>Bad Gateway</html>', {status: 502}), want: {code: 'unreadable', status: 502}},
        {name: 'JSON that is no error of the API', fault: Response.json(['no'], {status: 500}), want: {code: 'unreadable', status: 500}},
        {name: 'a page where JSON was promised', fault: new Response('<html>Log in</html>'), want: {code: 'unreadable', status: 200}},
        {name: 'no answer', fault: new TypeError('Failed to fetch'), want: {code: 'offline', status: 0}},
    ])('turns $name into an ApiError', async ({fault, want}) => {
        server.failNext(fault);
        const error = await rejection(client.connection());
        expect(error).toBeInstanceOf(ApiError);
        expect(error).toMatchObject(want);
    });

    it.each(['javascript:alert(1)', 'data:text/html,x', 'not an address'])('refuses to send the browser to %s', async (page) => {
        server.failNext(Response.json({authorize_url: page}));
        expect(await rejection(client.begin())).toMatchObject({code: 'unreadable'});
        server.failNext(Response.json({login_url: page, expires_at: '2026-11-21T12:20:00Z'}));
        expect(await rejection(client.begin())).toMatchObject({code: 'unreadable'});
    });

    it('rejects an aborted call with the reason of its signal', async () => {
        const request = new AbortController();
        request.abort(new Error('gone'));
        expect(await rejection(client.connection(request.signal))).toEqual(new Error('gone'));
    });
});
