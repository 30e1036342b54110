import {act, render, screen, waitFor} from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import React, {type ReactElement} from 'react';
import {IntlProvider} from 'react-intl';
import {afterEach, beforeEach, describe, expect, it, vi} from 'vitest';

import manifest from '../../plugin.json';
import {Server} from './test/server';
import type {EditorProps, Plugin, Registry} from './types';

/** A web client with one editor, as far as our registrations need it. */
class WebClient implements Registry {
    readonly events = new Map<string, () => void>();
    id = '';

    /** What the message has. */
    chips: string[] = [];
    words: Record<string, string>[] = [];

    #action: (props: EditorProps) => ReactElement | null = () => null;

    readonly #roots: (() => ReactElement | null)[] = [];
    #item: {icon: ReactElement; action: (upload: (files: File[]) => void) => void; text: ReactElement} | undefined;

    registerPlugin = (id: string, plugin: Plugin) => {
        this.id = id;
        plugin.initialize(this, {getState: () => ({entities: {users: {currentUserId: 'me'}, channels: {currentChannelId: 'channel'}}})});
    };

    registerRootComponent = (component: () => ReactElement | null) => {
        return String(this.#roots.push(component));
    };

    registerFileUploadMethod = (icon: ReactElement, action: (upload: (files: File[]) => void) => void, text: ReactElement) => {
        this.#item = {icon, action, text};
        return 'item';
    };

    registerPostEditorActionComponent = (component: (props: EditorProps) => ReactElement | null) => {
        this.#action = component;
        return 'action';
    };

    registerWebSocketEventHandler = (event: string, handler: () => void) => {
        this.events.set(event, handler);
    };

    registerTranslations = (translationsOf: (locale: string) => Record<string, string>) => {
        this.words = ['en', 'de', 'es', 'fr', 'ja', 'nl'].map(translationsOf);
    };

    show(): void {
        const Action = this.#action;
        const {icon, action, text} = this.#item ?? {};
        const draft = {channelId: 'channel', rootId: '', message: 'Look:', fileInfos: []};
        render(
            <IntlProvider
                locale='en'
            >
                <form>
                    <textarea aria-label='Write a message'/>
                    <button
                        type='button'
                        onClick={() => action?.(() => undefined)}
                    >
                        {icon}
                        {text}
                    </button>
                    <Action
                        draft={draft}
                        updateText={() => {
                            this.chips = draft.fileInfos.map(({name}: {name: string}) => name);
                        }}
                    />
                </form>
                {this.#roots.map((Root, index) => <Root key={index}/>)}
            </IntlProvider>,
        );
    }
}

let web: WebClient;

beforeEach(async () => {
    web = new WebClient();
    vi.stubGlobal('registerPlugin', web.registerPlugin);
    vi.resetModules();
    await import('./index');
});

afterEach(() => {
    vi.unstubAllGlobals();
});

/** The item of the menu; the button in the toolbar says the same. */
const item = async (name: string) => {
    const [first] = await screen.findAllByRole('button', {name});
    return first ?? document.body;
};

describe('the webapp part', () => {
    it('registers itself as the plugin of the manifest', () => {
        expect(web.id).toBe(manifest.id);
        expect([...web.events.keys()]).toEqual([`custom_${manifest.id}_connection`]);
    });

    it('speaks five languages from the start, and English in all others', () => {
        const names = web.words.map((messages) => messages['filehost-attach.attach_from_file_host']);
        expect(new Set(names).size).toBe(5);
        expect(names.at(-1)).toBe(names[0]);
    });

    it('names the host in the paperclip menu and in the toolbar, and asks for the name once', async () => {
        const server = new Server();
        web.show();
        expect(screen.getAllByRole('button', {name: 'Attach from file host'})).toHaveLength(2);
        await screen.findAllByRole('button', {name: 'Attach from Company Cloud'});
        expect(screen.getAllByRole('button', {name: 'Attach from Company Cloud'})).toHaveLength(2);
        expect(server.calls).toHaveLength(1);
    });

    it('does without the name when it cannot be had', async () => {
        const server = new Server();
        server.failNext(new TypeError('Failed to fetch'));
        web.show();
        await waitFor(() => {
            expect(server.calls).toHaveLength(1);
        });
        expect(screen.getAllByRole('button', {name: 'Attach from file host'})).toHaveLength(2);
    });

    it('opens the dialog, follows the connection to the files, and puts one into the message', async () => {
        const user = userEvent.setup();
        const server = new Server();
        web.show();

        await user.click(await item('Attach from Company Cloud'));
        expect(await screen.findByRole('dialog', {name: 'Company Cloud'})).toBeInTheDocument();

        server.finishSignIn();
        act(() => web.events.get(`custom_${manifest.id}_connection`)?.());
        expect(await screen.findByRole('dialog', {name: 'Attach from Company Cloud'})).toBeInTheDocument();
        await user.click(await screen.findByText('Plan.pdf'));
        await user.click(screen.getByRole('button', {name: 'Attach 1 file'}));
        await waitFor(() => {
            expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
        });
        expect(web.chips).toEqual(['Plan.pdf']);
        expect(screen.getByLabelText('Write a message')).toHaveFocus();
    });

    it('opens the dialog by its shortcut from where one writes, and not otherwise', async () => {
        const user = userEvent.setup();
        new Server();
        web.show();
        await user.keyboard('{Control>}{Alt>}[KeyO]{/Alt}{/Control}');
        expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
        await user.click(screen.getByLabelText('Write a message'));
        await user.keyboard('{Control>}[KeyO]{/Control}');
        expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
        await user.keyboard('{Control>}{Alt>}[KeyO]{/Alt}{/Control}');
        expect(await screen.findByRole('dialog')).toBeInTheDocument();
    });
});
