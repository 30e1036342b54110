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

beforeEach(() => {
    changed = createSignal();
    openWindow = vi.fn<typeof window.open>(() => null);
    vi.stubGlobal('open', openWindow);
});

afterEach(() => {
    vi.unstubAllGlobals();
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
        expect(openWindow).toHaveBeenCalledExactlyOnceWith('https://cloud.example.com/authorize?state=1', '_blank', 'noopener,noreferrer');
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
});
