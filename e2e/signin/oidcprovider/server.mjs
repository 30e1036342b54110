// oidc-provider as a program: `node server.mjs CONFIG.json`. The file holds
// {address, issuer, users: {name: password}, client: {id, secret, redirectURIs}, resourceServer: {id, secret}, key}.
import {createServer} from 'node:http';
import {readFileSync} from 'node:fs';

import {Provider, interactionPolicy} from 'oidc-provider';

const config = JSON.parse(readFileSync(process.argv[2], 'utf8'));

// tokenLife is how long an access token lasts, in seconds; the harness says it with each request.
const tokenLife = (ctx) => Number(ctx.get('x-token-life')) || 3600;

// Everybody signs in every time: the tests' browsers share cookies among all servers of the machine.
const policy = interactionPolicy.base();
const everyTime = new interactionPolicy.Check('every_time', 'everybody signs in every time', (ctx) => !ctx.oidc.result?.login);
policy.get('login').checks.add(everyTime);

const provider = new Provider(config.issuer, {
    clients: [
        {
            client_id: config.client.id,
            client_secret: config.client.secret,
            redirect_uris: config.client.redirectURIs,
            grant_types: ['authorization_code', 'refresh_token'],
            response_types: ['code'],
            // A web client must have https:// or localhost; a native one may have 127.0.0.1 (RFC 8252 7.3).
            application_type: 'native',
            token_endpoint_auth_method: 'client_secret_basic',
        },
        {
            client_id: config.resourceServer.id,
            client_secret: config.resourceServer.secret,
            redirect_uris: [],
            grant_types: [],
            response_types: [],
        },
    ],
    jwks: {keys: [config.key]},
    pkce: {required: () => true},
    scopes: ['openid', 'offline_access'],
    claims: {openid: ['sub'], profile: ['name', 'preferred_username'], email: ['email', 'email_verified']},
    features: {
        devInteractions: {enabled: false},
        introspection: {enabled: true},
        revocation: {enabled: true},
    },
    interactions: {policy, url: (ctx, interaction) => `/interaction/${interaction.uid}`},
    // Who signs in allows what is asked for; each sign-in is a grant of its own.
    async loadExistingGrant(ctx) {
        const {client, session, provider: {Grant}} = ctx.oidc;
        const grant = new Grant({clientId: client.clientId, accountId: session.accountId});
        grant.addOIDCScope(ctx.oidc.params.scope);
        await grant.save();
        return grant;
    },
    // Each refresh gives a new refresh token; one that comes again ends the whole grant (RFC 9700 4.14.2).
    rotateRefreshToken: true,
    async findAccount(_, sub) {
        if (!Object.hasOwn(config.users, sub)) {
            return undefined;
        }
        const email = `${sub}@example.com`;
        return {
            accountId: sub,
            claims: () => ({sub, name: sub, preferred_username: sub, email, email_verified: true}),
        };
    },
    ttl: {AccessToken: tokenLife, IdToken: 3600, RefreshToken: 86400, Session: 3600, Grant: 86400, Interaction: 3600},
    renderError(ctx, out) {
        ctx.type = 'json';
        ctx.body = out;
    },
});

const page = (problem) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sign in</title></head><body>
<h1>Sign in</h1>
${problem}
<form method="post">
<p><label>User name <input name="username" autocomplete="username" autofocus></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password"></label></p>
<p><button>Sign in</button></p>
</form></body></html>
`;

const show = (response, status, problem = '') => {
    response.writeHead(status, {'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store'});
    response.end(page(problem && `<p role="alert">${problem}</p>`));
};

const readForm = async (request) => {
    let body = '';
    for await (const chunk of request) {
        body += chunk;
    }
    return new URLSearchParams(body);
};

// interact is the page on which somebody signs in.
const interact = async (request, response) => {
    await provider.interactionDetails(request, response);
    if (request.method !== 'POST') {
        show(response, 200);
        return;
    }
    const form = await readForm(request);
    const name = form.get('username');
    if (!Object.hasOwn(config.users, name) || config.users[name] !== form.get('password')) {
        show(response, 401, 'Wrong user name or password.');
        return;
    }
    // Who signs in consents with that.
    const result = {login: {accountId: name}, consent: {}};
    await provider.interactionFinished(request, response, result, {mergeWithLastSubmission: false});
};

const serve = provider.callback();
const server = createServer((request, response) => {
    if (new URL(request.url, config.issuer).pathname.startsWith('/interaction/')) {
        interact(request, response).catch(() => show(response, 400, 'This sign-in has ended. Begin anew.'));
        return;
    }
    serve(request, response);
});
const [host, port] = config.address.split(':');
server.listen(Number(port), host);
process.on('SIGTERM', () => {
    server.close();
    server.closeAllConnections();
});
