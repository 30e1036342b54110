import {act, render, screen} from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import React from 'react';
import {IntlProvider} from 'react-intl';
import {afterEach, beforeEach, describe, expect, it, vi} from 'vitest';

import {createClient} from '../client';
import {createSignal, type Signal} from '../signal';
import {refusal, Server} from '../test/server';
import type {Connection} from '../types';
import {ConnectDialog} from './ConnectDialog';

let changed: Signal;
let openWindow: ReturnType<typeof vi.fn<typeof window.open>>;

/** The window that a click opens: where it was sent, and whether it was closed. */
let tab: {opener: unknown; location: {replace: (page: string) => void}; close: () => void; shows: string; closed: boolean};

beforeEach(() => {
    changed = createSignal();
    tab = {
        opener: window,
        location: {
            replace: (page) => {
                tab.shows = page;
            },
        },
        close: () => {
            tab.closed = true;
        },
        shows: 'nothing',
        closed: false,
    };
    openWindow = vi.fn<typeof window.open>(() => tab as unknown as Window);
    vi.stubGlobal('open', openWindow);
});

afterEach(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
    vi.useRealTimers();
});

/** Opens the dialog against a server where the user's connection is in this state. */
function open(connection: Partial<Connection> = {}, prepare: (server: Server) => void = () => undefined): Server {
    const server = new Server(connection);
    prepare(server);
    render(
        <IntlProvider locale='en'>
            <ConnectDialog
                client={createClient('')}
                changed={changed}
                onClosed={() => undefined}
            />
        </IntlProvider>,
    );
    return server;
}

const button = (name: string) => screen.findByRole('button', {name});

/** The server tells the user's clients that his connection has changed. */
const tell = () => {
    act(() => {
        changed.emit();
    });
};

describe('the connect dialog', () => {
    it('is a labelled dialog that says it is loading', async () => {
        let release: () => void = () => undefined;
        open({}, (server) => {
            release = server.hold();
        });
        expect(screen.getByRole('dialog', {name: 'File host'})).toBeInTheDocument();
        expect(screen.getByText('Loading…')).toBeInTheDocument();
        release();
        expect(await screen.findByRole('dialog', {name: 'Company Cloud'})).toBeInTheDocument();
    });

    it('signs in on the page of the host and goes on when the server tells', async () => {
        const user = userEvent.setup();
        const server = open();

        const connect = await button('Connect to Company Cloud');
        expect(connect).toHaveFocus();
        await user.keyboard('{Enter}');

        const again = await screen.findByRole('link', {name: 'Open the sign-in page again'});
        expect(again).toHaveAttribute('href', 'https://cloud.example.com/authorize?state=1');
        expect(again).toHaveAttribute('rel', 'noopener noreferrer');
        expect(openWindow).toHaveBeenCalledExactlyOnceWith('about:blank', '_blank');
        expect(tab).toMatchObject({shows: 'https://cloud.example.com/authorize?state=1', opener: null, closed: false});
        expect(screen.getByRole('status')).toHaveTextContent('Sign in on the page of Company Cloud');

        server.finishSignIn();
        act(() => {
            changed.emit();
        });
        expect(await screen.findByText('alice')).toBeInTheDocument();
        expect(screen.getByRole('status')).toHaveTextContent('You are connected to Company Cloud.');
        expect(await button('Done')).toHaveFocus();
    });

    it('looks again when the window gets the focus back', async () => {
        const user = userEvent.setup();
        const server = open();
        await user.click(await button('Connect to Company Cloud'));
        await screen.findByRole('textbox', {name: 'Code'});

        act(() => {
            window.dispatchEvent(new Event('focus'));
        });
        expect(await screen.findByRole('textbox', {name: 'Code'})).toBeInTheDocument();

        server.finishSignIn();
        act(() => {
            window.dispatchEvent(new Event('focus'));
        });
        expect(await screen.findByText('alice')).toBeInTheDocument();
    });

    it('takes the code of a sign-in that ended without a session', async () => {
        const user = userEvent.setup();
        open();
        await user.click(await button('I have a code'));

        const code = await screen.findByRole('textbox', {name: 'Code'});
        expect(code).toHaveFocus();
        expect(code).toHaveAccessibleDescription('Only if the page shows you a code at the end: type it here.');
        await user.keyboard('WRONG{Enter}');
        expect(await screen.findByRole('alert')).toHaveTextContent('This code is not the one that was shown.');

        await user.clear(code);
        await user.type(code, ' K7QM ');
        await user.click(await button('Confirm'));
        expect(await screen.findByText('alice')).toBeInTheDocument();
    });

    it('connects with an app password', async () => {
        const user = userEvent.setup();
        open({method: 'password'});

        expect(await screen.findByRole('textbox', {name: 'User name'})).toHaveFocus();
        await user.keyboard('bob{Tab}wrong{Enter}');
        expect(await screen.findByRole('alert')).toHaveTextContent('Company Cloud does not accept this user name and password.');
        expect(screen.getByRole('alert')).not.toHaveTextContent('Reference');

        const password = screen.getByLabelText('App password');
        expect(password).toHaveAttribute('type', 'password');
        await user.clear(password);
        await user.type(password, 'right{Enter}');
        expect(await screen.findByText('bob')).toBeInTheDocument();
    });

    it('shows as whom and since when, and disconnects', async () => {
        const user = userEvent.setup();
        open({state: 'connected', account: 'alice', since: '2026-11-20T09:30:00Z'});

        expect(await screen.findByText('alice')).toBeInTheDocument();
        expect(screen.getByText('November 20, 2026')).toHaveAttribute('datetime', '2026-11-20T09:30:00Z');
        expect(screen.queryByText('Last used')).not.toBeInTheDocument();

        await user.click(await button('Disconnect'));
        expect(await button('Connect to Company Cloud')).toHaveFocus();
    });

    it('says that an account is one for many users', async () => {
        open({state: 'connected', account: 'team', grant: 'service_account'});
        expect(await screen.findByText('You use an account of Company Cloud that others use as well.')).toBeInTheDocument();
    });

    it('asks to connect again when the host no longer accepts the connection', async () => {
        open({state: 'reconnect', account: 'alice'});
        expect(await screen.findByRole('alert')).toHaveTextContent('Company Cloud no longer accepts your connection.');
        expect(await button('Connect to Company Cloud')).toBeInTheDocument();
    });

    it('sends one request for two clicks, and stays in charge while it is out', async () => {
        const user = userEvent.setup();
        const server = open({state: 'connected', account: 'alice'});
        const disconnect = await button('Disconnect');

        const release = server.hold();
        await user.dblClick(disconnect);
        act(() => {
            changed.emit();
        });
        expect(disconnect).toHaveAttribute('aria-disabled', 'true');
        expect(disconnect).toHaveFocus();
        release();

        await button('Connect to Company Cloud');
        expect(server.calls.filter((call) => call.startsWith('DELETE'))).toHaveLength(1);
    });

    it.each([
        {name: 'no network', fault: new TypeError('Failed to fetch'), want: 'The server could not be reached.'},
        {name: 'an answer of somebody else', fault: new Response('<html>', {status: 502}), want: 'an answer that makes no sense here'},
        {name: 'an error of the API', fault: refusal(502, 'host_unavailable', 'Company Cloud does not answer.'), want: 'Company Cloud does not answer.Reference for your admin: req-42'},
    ])('says what is wrong and tries again: $name', async ({fault, want}) => {
        const user = userEvent.setup();
        open({}, (server) => {
            server.failNext(fault);
        });
        expect(await screen.findByRole('alert')).toHaveTextContent(want);

        await user.click(await button('Try again'));
        expect(await button('Connect to Company Cloud')).toBeInTheDocument();
        expect(screen.queryByRole('alert')).not.toBeInTheDocument();
    });

    it('sends the user to the admin when settings are missing', async () => {
        open({}, (server) => {
            server.failNext(refusal(503, 'not_configured', 'HostURL is missing.'));
        });
        expect(await screen.findByRole('alert')).toHaveTextContent('Please ask your system admin.');
    });

    it('opens the window at the click, before the server has answered', async () => {
        const user = userEvent.setup();
        const server = open();
        const connect = await button('Connect to Company Cloud');
        const release = server.hold();
        await user.click(connect);
        expect(openWindow).toHaveBeenCalledOnce();
        expect(tab.shows).toBe('nothing');
        release();
        await screen.findByRole('textbox', {name: 'Code'});
        expect(tab.shows).toBe('https://cloud.example.com/authorize?state=1');
    });

    it('closes the window again when the sign-in does not begin', async () => {
        const user = userEvent.setup();
        const server = open();
        const connect = await button('Connect to Company Cloud');
        server.failNext(refusal(502, 'host_unavailable', 'Company Cloud does not answer.'));
        await user.click(connect);
        expect(await screen.findByRole('alert')).toHaveTextContent('Company Cloud does not answer.');
        expect(tab).toMatchObject({shows: 'nothing', closed: true});
    });

    it('leads on with a link where the browser has blocked the window', async () => {
        const user = userEvent.setup();
        openWindow.mockReturnValue(null);
        open();
        await user.click(await button('Connect to Company Cloud'));
        expect(await screen.findByRole('link', {name: 'Open the sign-in page'})).toHaveAttribute('href', 'https://cloud.example.com/authorize?state=1');
        expect(screen.getByRole('status')).toHaveTextContent('Your browser has blocked the new window.');
        expect(screen.getByText(/^Your browser has blocked/, {selector: 'p'})).toBeInTheDocument();
    });

    it('opens no empty window in the desktop app', async () => {
        const user = userEvent.setup();
        vi.spyOn(navigator, 'userAgent', 'get').mockReturnValue('Mozilla/5.0 Chrome/138.0 Electron/37.2 Safari/537.36 Mattermost/5.13');
        openWindow.mockReturnValue(null);
        open();
        await user.click(await button('Connect to Company Cloud'));
        expect(await screen.findByRole('link', {name: 'Open the sign-in page again'})).toBeInTheDocument();
        expect(openWindow).toHaveBeenCalledExactlyOnceWith('https://cloud.example.com/authorize?state=1', '_blank', 'noopener,noreferrer');
    });

    it('goes back to the ways to connect from a sign-in that the user gives up', async () => {
        const user = userEvent.setup();
        open();
        await user.click(await button('Connect to Company Cloud'));
        await user.click(await button('Back'));
        expect(await button('Connect to Company Cloud')).toHaveFocus();
    });
});

describe('the ways to connect', () => {
    it('come in their order, the best one open and the others below', async () => {
        const user = userEvent.setup();
        open({methods: ['oauth', 'login_flow', 'password']});
        await button('Connect to Company Cloud');
        expect(screen.getByRole('list', {name: 'Other ways to connect:'})).toHaveTextContent('Allow access in the browserUser name and app password');

        await user.click(await button('User name and app password'));
        expect(await screen.findByRole('textbox', {name: 'User name'})).toHaveFocus();
        await user.click(await button('Allow access in the browser'));
        expect(await button('Connect to Company Cloud')).toHaveFocus();
        expect(screen.queryByRole('button', {name: 'I have a code'})).not.toBeInTheDocument();
        expect(screen.getByRole('list', {name: 'Other ways to connect:'})).toHaveTextContent('Sign in in the browserUser name and app password');
    });

    it('are not listed where there is one', async () => {
        open();
        await button('Connect to Company Cloud');
        expect(screen.queryByRole('list')).not.toBeInTheDocument();
    });
});

describe('an account that the user has signed in with', () => {
    /** Signs in by a login flow. */
    async function signIn(user: ReturnType<typeof userEvent.setup>): Promise<Server> {
        const server = open({methods: ['login_flow']});
        await user.click(await button('Connect to Company Cloud'));
        await screen.findByRole('link', {name: 'Open the sign-in page again'});
        expect(tab.shows).toBe('https://cloud.example.com/login/v2/flow/1');
        expect(screen.queryByRole('textbox')).not.toBeInTheDocument();
        return server;
    }

    it('is shown, and connected only when the user says so', async () => {
        const user = userEvent.setup();
        const server = await signIn(user);
        expect(screen.getByRole('status')).toHaveTextContent('allow access there');
        server.offer({account: '3fa8-uid', display_name: 'Alice Ämne', email: 'alice@example.com'});
        tell();

        const question = await screen.findByText('You have signed in to Company Cloud with this account. Connect it?');
        expect(question).toHaveFocus();
        for (const shown of ['3fa8-uid', 'Alice Ämne', 'alice@example.com']) {
            expect(screen.getByText(shown)).toBeInTheDocument();
        }
        await user.keyboard('{Enter}');
        expect(server.connection.state).toBe('not_connected');

        await user.click(await button('Connect this account'));
        expect(await button('Done')).toBeInTheDocument();
        expect(server.connection).toMatchObject({state: 'connected', account: '3fa8-uid'});
    });

    it('is let go when it is not the user\'s', async () => {
        const user = userEvent.setup();
        const server = await signIn(user);
        server.offer({account: 'mallory'});
        tell();
        await user.click(await button('Not me'));
        expect(await button('Connect to Company Cloud')).toBeInTheDocument();
        expect(server.connection).toMatchObject({state: 'not_connected'});
        expect(server.connection.pending).toBeUndefined();
    });

    it('is shown also to who comes back later, and to who has closed the dialog', async () => {
        open({methods: ['login_flow']}, (server) => {
            server.offer();
        });
        expect(await button('Connect this account')).toBeInTheDocument();
    });

    it('is looked for when the user comes back to this page', async () => {
        const user = userEvent.setup();
        const server = await signIn(user);
        server.offer();
        act(() => {
            document.dispatchEvent(new Event('visibilitychange'));
        });
        expect(await button('Connect this account')).toBeInTheDocument();
    });

    it('may wait no longer', async () => {
        const user = userEvent.setup();
        const server = await signIn(user);
        server.offer();
        tell();
        const accept = await button('Connect this account');
        delete server.connection.pending;
        await user.click(accept);
        expect(await screen.findByRole('alert')).toHaveTextContent('No account waits to be connected.');
        expect(await button('Connect to Company Cloud')).toBeInTheDocument();
    });

    it('may be refused, with the reason', async () => {
        const user = userEvent.setup();
        const server = await signIn(user);
        server.refuse('login_flow', 'That account has another email address.');
        tell();
        expect(await screen.findByRole('alert')).toHaveTextContent('The sign-in did not connect you to Company Cloud. That account has another email address.');
        expect(await button('Connect to Company Cloud')).toBeInTheDocument();
    });

    it('does not come when the user takes too long', async () => {
        vi.useFakeTimers({toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true});
        const user = userEvent.setup({advanceTimers: vi.advanceTimersByTime});
        await signIn(user);
        act(() => {
            vi.advanceTimersByTime((20 * 60_000) + 1);
        });
        expect(await screen.findByRole('alert')).toHaveTextContent('The sign-in took too long');
        expect(await button('Connect to Company Cloud')).toBeInTheDocument();
    });
});

describe('a host that is connected without an act of the user', () => {
    it('is connected when the dialog opens', async () => {
        const server = open({methods: ['token_exchange', 'oauth'], automatic: true});
        expect(await button('Done')).toBeInTheDocument();
        expect(server.calls).toEqual(['GET /plugins/filehost-attach/api/connection', 'POST /plugins/filehost-attach/api/connection']);
        expect(openWindow).not.toHaveBeenCalled();
    });

    it('is asked for once, whatever the server tells meanwhile', async () => {
        let release: () => void = () => undefined;
        const server = open({methods: ['token_exchange'], automatic: true}, (prepared) => {
            release = prepared.hold('POST');
        });
        expect(await screen.findByText('Connecting to Company Cloud…', {selector: 'p'})).toBeInTheDocument();
        tell();
        release();
        expect(await button('Done')).toBeInTheDocument();
        expect(server.calls).toHaveLength(2);
    });

    it('says who has refused and why, and offers the next way', async () => {
        const user = userEvent.setup();
        const server = open({methods: ['token_exchange', 'oauth'], automatic: true}, (prepared) => {
            prepared.refuses = 'You have no account there.';
        });
        expect(await screen.findByRole('alert')).toHaveTextContent('Company Cloud could not be connected without signing in (Single sign-on). You have no account there.');
        expect(screen.getByText(/You sign in on a page of Company Cloud/)).toBeInTheDocument();

        server.refuses = undefined;
        await user.click(await button('Single sign-on'));
        await user.click(await button('Connect to Company Cloud'));
        expect(await button('Done')).toBeInTheDocument();
        expect(openWindow).not.toHaveBeenCalled();
    });

    it('is not connected again by itself when the user has disconnected', async () => {
        const user = userEvent.setup();
        const server = open({methods: ['service_account'], automatic: true});
        await user.click(await button('Disconnect'));
        const connect = await button('Connect to Company Cloud');
        expect(screen.getByText(/They are those of an account that others use as well/)).toBeInTheDocument();
        tell();
        expect(await button('Connect to Company Cloud')).toBe(connect);
        expect(server.connection.state).toBe('not_connected');
        await user.click(connect);
        expect(await button('Done')).toBeInTheDocument();
    });

    it('fails in words, and can be tried again', async () => {
        const user = userEvent.setup();
        open({methods: ['jwt_bearer'], automatic: true}, (server) => {
            server.failNext(Response.json(server.connection));
            server.failNext(refusal(502, 'host_unavailable', 'The sign-in server does not answer.'));
        });
        expect(await screen.findByRole('alert')).toHaveTextContent('The sign-in server does not answer.');
        await user.click(await button('Connect to Company Cloud'));
        expect(await button('Done')).toBeInTheDocument();
    });
});
