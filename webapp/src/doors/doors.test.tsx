import {act, render, screen, waitFor, within} from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import React, {type ComponentType, type ReactElement} from 'react';
import {IntlProvider} from 'react-intl';
import {afterEach, beforeEach, describe, expect, it, vi} from 'vitest';

import {createClient} from '../client';
import {registerDoors} from '../doors';
import {createSignal, type Signal} from '../signal';
import {entry} from '../test/files';
import {refusal, Server} from '../test/server';
import type {FileInfo, HostState, Post, Registry, UserSettings} from '../types';

/** What the web client does with our registrations. */
class WebClient {
    readonly types = new Map<string, ComponentType<{post: Post}>>();
    readonly roots: (() => ReactElement | null)[] = [];
    readonly postItems: {text: ReactElement; action: (id: string) => void; filter: (id: string) => boolean}[] = [];
    file: ((file: FileInfo) => void) | undefined;
    settings: UserSettings | undefined;

    readonly registry: Registry = {
        registerRootComponent: (component) => String(this.roots.push(component)),
        registerFileUploadMethod: () => '',
        registerWebSocketEventHandler: () => undefined,
        registerTranslations: () => undefined,
        registerPostTypeComponent: (type, component) => {
            this.types.set(type, component);
            return type;
        },
        registerFileDropdownMenuAction: (_match, _text, action) => {
            this.file = action;
            return 'file';
        },
        registerPostDropdownMenuAction: (text, action, filter) => String(this.postItems.push({text, action, filter})),
        registerUserSettings: (settings) => {
            this.settings = settings;
        },
    };
}

const state: HostState = {
    entities: {
        users: {currentUserId: 'me'},
        posts: {posts: {
            mine: {channel_id: 'c', user_id: 'me', file_ids: ['f1', 'f2']},
            words: {channel_id: 'c', user_id: 'me'},
            theirs: {channel_id: 'c', user_id: 'other', file_ids: ['f1']},
            card: {channel_id: 'c', user_id: 'me', type: 'custom_filehost_card'},
        }},
        files: {files: {f1: {id: 'f1', name: 'a.pdf', size: 10}, f2: {id: 'f2', name: 'b.pdf', size: 20}}},
    },
};

let web: WebClient;
let server: Server;
let changed: Signal;

beforeEach(() => {
    server = new Server({state: 'connected', account: 'alice', since: '2026-11-20T09:30:00Z', last_used: '2026-11-21T09:00:00Z'});
    web = new WebClient();
    changed = createSignal();
    registerDoors(web.registry, {getState: () => state}, createClient(''), changed, () => ({}));
});

afterEach(() => {
    vi.unstubAllGlobals();
});

const show = (children: ReactElement) => render(
    <IntlProvider
        locale='en'
        onError={() => undefined}
    >
        {children}
        {web.roots.map((Root, index) => <Root key={index}/>)}
    </IntlProvider>,
);

const post = (id: string, message: string): Post => ({id, message, user_id: 'me'});

function showPost(one: Post): void {
    const Shown = web.types.get('custom_filehost_card');
    if (Shown) {
        show(<Shown post={one}/>);
    }
}

const line = '[`Plan.pdf`](https://evil.example.com/x) · PDF, 9.9 MB · `Company Cloud` · for people who have access there';

const card = (id: string, link: Record<string, unknown>, changes: Record<string, unknown> = {}) => Response.json({
    post_id: id,
    user_id: 'me',
    posted_at: '2026-11-20T09:30:00Z',
    host: {id: 'default', name: 'Company Cloud', kind: 'nextcloud'},
    items: [{name: 'Plan.pdf', kind: 'file', size: 2 * 1024 * 1024, mime_type: 'application/pdf', modified_at: null, link: {password_set: false, remove_with_post: true, ...link}}],
    ...changes,
});

describe('a card', () => {
    it('shows what the server says, below the own words of the poster', async () => {
        server.routes.set('GET /cards/one', () => card('one', {audience: 'internal', url: 'https://cloud.example.com/f/1'}, {user_id: 'other'}));
        showPost(post('one', `Look:\n\n${line}`));
        const item = await screen.findByRole('listitem');
        expect(screen.getByText('Look:')).toBeInTheDocument();
        expect(item).toHaveTextContent('2 MB · Company Cloud');
        expect(item).toHaveTextContent('For people who have access at Company Cloud');
        expect(within(item).getByRole('link', {name: 'Open Plan.pdf'})).toHaveAttribute('href', 'https://cloud.example.com/f/1');
        expect(document.body).not.toHaveTextContent('evil');
        expect(server.calls.filter((call) => call.startsWith('POST'))).toEqual([]);
    });

    it.each([
        {name: 'the server knows of no such post', answer: () => refusal(404, 'not_found', 'There is no such post.')},
        {name: 'the card is of another post', answer: () => card('other', {audience: 'internal', url: 'https://cloud.example.com/f/1'})},
        {name: 'the answer makes no sense', answer: () => new Response('<html>')},
    ])('is the text of the post where $name', async ({answer}) => {
        server.routes.set('GET /cards/forged', answer);
        server.routes.set('GET /cards/true', () => card('true', {audience: 'internal', url: 'https://cloud.example.com/f/1'}, {user_id: 'other'}));
        const Shown = web.types.get('custom_filehost_card') ?? (() => null);
        show(
            <>
                <Shown post={post('forged', line)}/>
                <Shown post={post('true', line)}/>
            </>,
        );
        expect(await screen.findAllByRole('listitem')).toHaveLength(1);
        expect(screen.getByText(line)).toBeInTheDocument();
        expect(screen.getAllByRole('link')).toHaveLength(1);
    });

    it('leads to web addresses only', async () => {
        server.routes.set('GET /cards/four', () => card('four', {audience: 'internal', url: 'javascript:alert(1)'}));
        showPost(post('four', line));
        await screen.findByRole('listitem');
        expect(screen.queryByRole('link')).not.toBeInTheDocument();
    });

    it.each([
        {link: {audience: 'public', permission: 'view'}, want: 'Anyone with the link can view'},
        {link: {audience: 'public', permission: 'edit', password_set: true}, want: 'Anyone with the link can edit · password needed'},
        {link: {audience: 'public', permission: 'view', expires_at: '2126-01-02T00:00:00Z'}, want: 'Anyone with the link can view · until Jan 1, 2126'},
        {link: {audience: 'public', permission: 'view', expires_at: '2020-01-02T00:00:00Z'}, want: 'The link has expired'},
        {link: {audience: 'public', revoked_at: '2020-01-02T00:00:00Z'}, want: 'The link was revoked'},
    ])('says who can open it: $want', async ({link, want}) => {
        server.routes.set('GET /cards/who', () => card('who', link));
        showPost(post('who', line));
        expect(await screen.findByText((_, element) => element?.className === 'filehost-attach-card__detail' && element.textContent === want)).toBeInTheDocument();
    });

    it('copies its link', async () => {
        const user = userEvent.setup();
        server.routes.set('GET /cards/copy', () => card('copy', {audience: 'internal', url: 'https://cloud.example.com/f/1'}));
        showPost(post('copy', line));
        await user.click(await screen.findByRole('button', {name: 'Copy link to Plan.pdf'}));
        await waitFor(() => {
            expect(screen.getByRole('status')).toHaveTextContent('Link copied');
        });
        expect(await navigator.clipboard.readText()).toBe('https://cloud.example.com/f/1');
    });

    it('tells its poster of a newer version, and takes it', async () => {
        const user = userEvent.setup();
        server.routes.set('GET /cards/mine', () => card('mine', {audience: 'internal', url: 'https://cloud.example.com/f/1'}));
        const runs: unknown[] = [];
        server.routes.set('POST /refresh', ({dry_run: dryRun}) => {
            runs.push(dryRun);
            return Response.json({post_id: 'mine', items: [{name: 'Plan.pdf', state: runs.length === 1 ? 'changed' : 'unchanged', before: {}}]});
        });
        showPost(post('mine', line));
        await user.click(await screen.findByRole('button', {name: 'Update Plan.pdf'}));
        await waitFor(() => {
            expect(screen.queryByText('A newer version exists')).not.toBeInTheDocument();
        });
        expect(runs.slice(0, 2)).toEqual([true, false]);
    });
});

describe('saving', () => {
    it('is offered for posts with files', () => {
        expect(['mine', 'words', 'theirs', 'none'].map((id) => web.postItems[0]?.filter(id))).toEqual([true, false, true, false]);
    });

    it('saves all files of a post in the folder that is chosen, and leads to it', async () => {
        const user = userEvent.setup();
        const bodies: unknown[] = [];
        server.routes.set('POST /save', (body) => {
            bodies.push(body);
            return body.file_id === 'f2' && bodies.length === 2 ?
                refusal(409, 'conflict', 'The name is taken.') :
                Response.json({entry: entry(`/Photos/${String(body.file_id)}.pdf`)}, {status: 201});
        });
        show(<></>);
        act(() => web.postItems[0]?.action('mine'));
        expect(await screen.findByRole('dialog', {name: 'Save to Company Cloud'})).toHaveTextContent('2 files to save');
        expect(await screen.findByText('Photos')).toBeInTheDocument();
        expect(screen.queryByText('Plan.pdf')).not.toBeInTheDocument();
        await user.click(screen.getByText('Photos'));
        await screen.findByText('Summer');
        await user.selectOptions(screen.getByLabelText('If the name is taken'), 'fail');
        await user.click(screen.getByRole('button', {name: 'Save here'}));

        expect(await screen.findByText('The name is taken.')).toBeInTheDocument();
        await user.click(screen.getByRole('button', {name: 'Try b.pdf again'}));
        expect(await screen.findByRole('heading', {name: '2 of 2 saved'})).toBeInTheDocument();
        const body = (id: string) => ({file_id: id, conflict: 'fail', folder: '/Photos'});
        expect(bodies).toEqual([body('f1'), body('f2'), body('f2')]);
    });

    it('makes a folder and goes into it', async () => {
        const user = userEvent.setup();
        server.routes.set('POST /folders', ({path}) => {
            const made = entry(String(path));
            server.entries.push(made);
            return Response.json(made, {status: 201});
        });
        show(<></>);
        act(() => web.file?.({id: 'f1', name: 'a.pdf', size: 10}));
        await user.click(await screen.findByRole('button', {name: 'New folder'}));
        await user.type(screen.getByRole('textbox', {name: 'Name of the new folder'}), 'Invoices{Enter}');
        await waitFor(() => {
            expect(screen.getByText('Invoices', {selector: '[aria-current]'})).toBeInTheDocument();
        });
        expect(await screen.findByText('No folders in here')).toBeInTheDocument();
    });

    it('says that a file may be there after an answer that was lost', async () => {
        const user = userEvent.setup();
        server.routes.set('POST /save', () => refusal(504, 'timeout', 'Company Cloud took too long.'));
        show(<></>);
        act(() => web.file?.({id: 'f1', name: 'a.pdf', size: 10}));
        await screen.findByText('Photos');
        await user.click(screen.getByRole('button', {name: 'Save here'}));
        expect(await screen.findByText(/look into the folder before you try again/)).toBeInTheDocument();
    });
});

describe('the check for newer versions', () => {
    it('is offered for one’s own posts only', () => {
        expect(['mine', 'words', 'theirs', 'card', 'none'].map((id) => web.postItems[1]?.filter(id))).toEqual([true, false, false, true, false]);
    });

    it('tells what became of each file, and brings in what is new', async () => {
        const user = userEvent.setup();
        server.routes.set('POST /refresh', ({dry_run: dryRun}) => Response.json({
            post_id: 'mine',
            items: [{name: 'a.pdf', state: dryRun ? 'changed' : 'changed', before: {}}, {name: 'b.pdf', state: 'gone', before: {}}],
            ...(!dryRun && {reply_id: 'reply'}),
        }));
        show(<></>);
        act(() => web.postItems[1]?.action('mine'));
        expect(await screen.findByText('A newer version exists')).toBeInTheDocument();
        expect(screen.getByText('No longer at Company Cloud')).toBeInTheDocument();
        await user.click(screen.getByRole('button', {name: 'Bring in the newer version'}));
        expect(await screen.findByText(/is in the thread of the post/, {selector: 'p'})).toBeInTheDocument();
    });

    it('says why it can’t tell', async () => {
        server.routes.set('POST /refresh', () => refusal(404, 'not_found', 'The post is not one that was made from Company Cloud.'));
        show(<></>);
        act(() => web.postItems[1]?.action('mine'));
        expect(await screen.findByRole('alert')).toHaveTextContent('not one that was made from Company Cloud');
    });
});

describe('the account in the settings', () => {
    it('shows as whom, since when and when last, and disconnects after a question', async () => {
        const user = userEvent.setup();
        const Section = web.settings?.sections[0]?.component ?? (() => null);
        show(<Section/>);
        expect(await screen.findByText('alice')).toBeInTheDocument();
        expect(screen.getByText('November 20, 2026')).toBeInTheDocument();
        expect(screen.getByText('November 21, 2026')).toBeInTheDocument();

        await user.click(screen.getByRole('button', {name: 'Disconnect'}));
        expect(screen.getByRole('button', {name: 'Stay connected'})).toHaveFocus();
        expect(server.calls.filter((call) => call.startsWith('DELETE'))).toEqual([]);
        await user.click(screen.getByRole('button', {name: 'Disconnect'}));
        expect(await screen.findByText('You are not connected to Company Cloud.')).toBeInTheDocument();

        await user.click(screen.getByRole('button', {name: 'Connect to Company Cloud'}));
        expect(await screen.findByRole('dialog', {name: 'Company Cloud'})).toBeInTheDocument();
    });
});
