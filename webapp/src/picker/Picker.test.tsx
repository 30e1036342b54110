import {render, screen, waitFor, within} from '@testing-library/react';
import userEvent, {type UserEvent} from '@testing-library/user-event';
import React from 'react';
import {IntlProvider} from 'react-intl';
import {afterEach, describe, expect, it, vi} from 'vitest';

import {createClient, type Target} from '../client';
import type {Composer} from '../editors';
import {createSignal} from '../signal';
import {entry} from '../test/files';
import {refusal, Server} from '../test/server';
import type {ErrorCode, FileInfo} from '../types';
import {PickerDialog} from './PickerDialog';

afterEach(() => {
    vi.unstubAllGlobals();
    localStorage.clear();
});

/** A message that files are chosen for. */
class Message implements Composer {
    files: string[] = [];

    constructor(private readonly to: Target | undefined, private readonly open = true, private readonly before = 0) {}

    target = () => this.to;
    takesFiles = () => this.open;
    taken = () => this.before;
    focus = () => undefined;
    deliver = (infos: readonly FileInfo[]) => {
        this.files.push(...infos.map(({name}) => name));
    };
}

const town: Target = {channelId: 'town', rootId: ''};

type World = {server: Server; user: UserEvent; message: Message};

/** Opens the picker for a user who is connected. */
async function open(message = new Message(town), prepare: (server: Server) => void = () => undefined): Promise<World> {
    const server = new Server({state: 'connected', limits: {files: 3, file_size: 2 * 1024 ** 3, total_size: 2 * 1024 ** 3}});
    prepare(server);
    render(
        <IntlProvider locale='en'>
            <PickerDialog
                client={createClient('')}
                changed={createSignal()}
                composer={message}
                user='me'
                words={{}}
                onClosed={() => undefined}
            />
        </IntlProvider>,
    );
    await screen.findByRole('dialog', {name: 'Attach from Company Cloud'});
    return {server, user: userEvent.setup(), message};
}

const row = async (name: string) => {
    const found = (await within(await screen.findByRole('grid')).findByText(name)).closest<HTMLElement>('[role="row"]');
    return found ?? document.body;
};
const button = (name: string | RegExp) => screen.findByRole('button', {name});
const closed = () => waitFor(() => {
    expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
});

describe('the picker', () => {
    it('shows what is there, and what of it can be attached', async () => {
        const {user} = await open();
        expect(await row('Photos')).not.toHaveAttribute('aria-selected');
        expect(await row('Plan.pdf')).toHaveAttribute('aria-selected', 'false');
        for (const [name, reason] of [['empty.txt', 'Empty file'], ['film.mov', 'Larger than 2 GB'], ['locked.pdf', 'Can’t be downloaded']] as const) {
            expect(await row(name)).toHaveAttribute('aria-disabled', 'true');
            expect(await row(name)).toHaveTextContent(reason);
            await user.click(await row(name));
        }
        expect(await button('Attach')).toBeDisabled();
        expect(screen.getByText('Up to 3 files, each up to 2 GB')).toBeInTheDocument();
    });

    it('keeps what is chosen across folders, and copies it in that order, each file with a key of its own', async () => {
        const {server, user, message} = await open();
        await user.click(await row('Plan.pdf'));
        await user.click(await row('Photos'));
        await user.click(await row('team.jpg'));
        await user.click(await row('Summer'));
        await user.click(await row('beach.jpg'));
        await user.click(await button('Attach 3 files'));
        await closed();
        expect(message.files).toEqual(['Plan.pdf', 'team.jpg', 'beach.jpg']);
        expect(server.attached.map(({as, channelId, rootId}) => [as, channelId, rootId])).toEqual(Array(3).fill(['draft', 'town', undefined]));
        expect(new Set(server.attached.map(({key}) => key)).size).toBe(3);
    });

    it('counts the files that the message has already', async () => {
        const {user} = await open(new Message(town, true, 2));
        await user.click(await row('Plan.pdf'));
        await user.click(await row('Photos'));
        await user.click(await row('team.jpg'));
        expect(await button('Attach 1 file')).toBeEnabled();
        expect(await screen.findAllByText('A message takes 1 file; that many are chosen.')).toHaveLength(2);
    });

    it('puts in what could be copied, and tries the rest again', async () => {
        const {server, user, message} = await open(undefined, ({broken}) => {
            broken.set('Plan.pdf', [504, 'timeout', 'The host was too slow.']);
        });
        await user.click(await row('Plan.pdf'));
        await user.click(await row('Photos'));
        await user.click(await row('team.jpg'));
        await user.click(await button('Attach 2 files'));
        expect(await screen.findByText('1 file could not be attached.')).toBeInTheDocument();
        expect(screen.getByText('The host was too slow.')).toBeInTheDocument();
        expect(message.files).toEqual(['team.jpg']);
        server.broken.clear();
        await user.click(await button('Try Plan.pdf again'));
        await closed();
        expect(message.files).toEqual(['team.jpg', 'Plan.pdf']);
    });

    it('goes back from what failed with just that chosen', async () => {
        const {user, message} = await open(undefined, ({broken}) => {
            broken.set('Plan.pdf', [403, 'forbidden', 'Not allowed.']);
        });
        await user.click(await row('Plan.pdf'));
        await user.click(await row('Photos'));
        await user.click(await row('team.jpg'));
        await user.click(await button('Attach 2 files'));
        await user.click(await button('Back to the files'));
        expect(await button('Attach 1 file')).toBeEnabled();
        expect(message.files).toEqual(['team.jpg']);
    });

    it('posts nothing by itself where there is no way into the message, and says what was not posted', async () => {
        const {server, user, message} = await open(new Message({channelId: 'town', rootId: 'question'}, false), ({broken}) => {
            broken.set('team.jpg', [412, 'changed', 'It has changed.']);
        });
        await user.click(await row('Plan.pdf'));
        await user.click(await row('Photos'));
        await user.click(await row('team.jpg'));
        await user.click(await button('Attach 2 files'));
        expect(await screen.findByText(/Post them to this thread now/)).toHaveFocus();
        expect(server.attached).toEqual([]);
        await user.click(await button('Post now'));
        expect(await screen.findByRole('alert')).toHaveTextContent('It has changed.');
        expect(server.attached).toMatchObject([{as: 'copy', channelId: 'town', rootId: 'question', names: ['Plan.pdf', 'team.jpg']}]);
        await user.click(await button('Done'));
        await closed();
        expect(message.files).toEqual([]);
    });

    it('keeps one request within its limit where all files are posted at once', async () => {
        const {user} = await open(new Message(town, false), (server) => {
            server.entries = ['/a.pdf', '/b.pdf'].map((path) => entry(path, {size: 1.5 * 1024 ** 3}));
        });
        await user.click(await row('a.pdf'));
        await user.click(await row('b.pdf'));
        expect(await button('Attach 1 file')).toBeEnabled();
        expect(await screen.findAllByText(/Together the files would be larger than 2 GB/)).toHaveLength(2);
    });

    it('says so where there is no message', async () => {
        const {server, user} = await open(new Message(undefined, false));
        await user.click(await row('Plan.pdf'));
        await user.click(await button('Attach 1 file'));
        expect(await screen.findByRole('alert')).toHaveTextContent('Open a channel first');
        expect(server.attached).toEqual([]);
    });

    it('goes on after a page that is short', async () => {
        const {server} = await open(undefined, (prepared) => {
            prepared.pageSize = 2;
        });
        expect(await row('locked.pdf')).toBeInTheDocument();
        expect(server.calls.filter((call) => call.includes('cursor='))).toHaveLength(2);
    });

    it('connects again where the host wants that, and has what was chosen then', async () => {
        const {server, user} = await open();
        await user.click(await row('Plan.pdf'));
        server.connection = {...server.connection, state: 'reconnect'};
        await user.click(await row('Photos'));
        expect(await screen.findByText(/no longer accepts your connection/)).toBeInTheDocument();
        server.finishSignIn();
        window.open = () => null;
        await user.click(await button('Connect to Company Cloud'));
        window.dispatchEvent(new Event('focus'));
        expect(await button('Attach 1 file')).toBeEnabled();
    });

    it.each<[ErrorCode, number, string, string | undefined]>([
        ['host_unavailable', 502, 'Company Cloud can’t be reached', 'Try again'],
        ['timeout', 504, 'Company Cloud took too long to answer', 'Try again'],
        ['maintenance', 503, 'Company Cloud is in maintenance', 'Try again'],
        ['rate_limited', 429, 'Too many requests at once', 'Try again'],
        ['internal', 500, 'The server gave an answer that makes no sense here.', 'Try again'],
        ['conflict', 409, 'The server’s own words.', 'Try again'],
        ['not_found', 404, 'This is no longer there', 'Go to all files'],
        ['forbidden', 403, 'You have no access to this', 'Go to all files'],
        ['unsupported', 422, 'Company Cloud can’t do this', 'Go to all files'],
        ['too_large', 413, 'This folder is too large to be listed', 'Go to all files'],
        ['invalid_request', 400, 'The server’s own words.', 'Go to all files'],
        ['not_authenticated', 401, 'Your Mattermost session has ended', 'Reload the page'],
        ['not_configured', 503, 'The file host is not set up yet.', undefined],
    ])('says what is wrong and what to do about it: %s', async (code, status, words, step) => {
        const {server, user} = await open();
        const photos = await row('Photos');
        server.failNext(refusal(status, code, 'The server’s own words.'));
        await user.click(photos);
        const alert = await screen.findByRole('alert');
        expect(alert).toHaveTextContent(words);
        expect(within(alert).queryAllByRole('button').map(({textContent}) => textContent)).toEqual(step === undefined ? [] : [step]);
        if (step === 'Try again') {
            await user.click(within(alert).getByRole('button'));
            expect(await row('team.jpg')).toBeInTheDocument();
        } else if (step === 'Go to all files') {
            await user.click(within(alert).getByRole('button'));
            expect(await row('Plan.pdf')).toBeInTheDocument();
        }
    });

    it('tries again by itself when the network is back', async () => {
        const {server, user} = await open();
        const photos = await row('Photos');
        server.failNext(new TypeError('Failed to fetch'));
        await user.click(photos);
        expect(await screen.findByRole('alert')).toHaveTextContent('The server could not be reached.');
        window.dispatchEvent(new Event('online'));
        expect(await row('team.jpg')).toBeInTheDocument();
    });

    it('shows the account, and comes back to the files', async () => {
        const {user} = await open();
        await user.click(await button('Your account at Company Cloud'));
        await button('Disconnect');
        await user.click(await button('Done'));
        expect(await row('Plan.pdf')).toBeInTheDocument();
    });
});
