import {act, render, screen} from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import React, {type ReactElement} from 'react';
import {IntlProvider} from 'react-intl';
import {afterEach, beforeEach, describe, expect, it, vi} from 'vitest';

import manifest from '../../plugin.json';
import {Server} from './test/server';
import type {Plugin, Registry} from './types';

/** A web client with one editor, as far as our registrations need it. */
class WebClient implements Registry {
    readonly events = new Map<string, () => void>();
    messages: Record<string, string> = {};
    id = '';

    #root: () => ReactElement | null = () => null;
    #item: {icon: ReactElement; action: (upload: (files: File[]) => void) => void; text: ReactElement} | undefined;

    registerPlugin = (id: string, plugin: Plugin) => {
        this.id = id;
        plugin.initialize(this);
    };

    registerRootComponent = (component: () => ReactElement | null) => {
        this.#root = component;
        return 'root';
    };

    registerFileUploadMethod = (icon: ReactElement, action: (upload: (files: File[]) => void) => void, text: ReactElement) => {
        this.#item = {icon, action, text};
        return 'item';
    };

    registerWebSocketEventHandler = (event: string, handler: () => void) => {
        this.events.set(event, handler);
    };

    registerTranslations = (translationsOf: (locale: string) => Record<string, string>) => {
        this.messages = translationsOf('en');
    };

    show(): void {
        const Root = this.#root;
        const {icon, action, text} = this.#item ?? {};
        render(
            <IntlProvider
                locale='en'
                messages={this.messages}
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
                </form>
                <Root/>
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

describe('the webapp part', () => {
    it('registers itself as the plugin of the manifest', () => {
        expect(web.id).toBe(manifest.id);
        expect([...web.events.keys()]).toEqual([`custom_${manifest.id}_connection`]);
    });

    it('names the host in the paperclip menu', async () => {
        new Server();
        web.show();
        expect(screen.getByRole('button', {name: 'Attach from file host'})).toBeInTheDocument();
        expect(await screen.findByRole('button', {name: 'Attach from Company Cloud'})).toBeInTheDocument();
    });

    it('does without the name when it cannot be had', async () => {
        const server = new Server();
        server.failNext(new TypeError('Failed to fetch'));
        web.show();
        await vi.waitFor(() => {
            expect(server.calls).toHaveLength(1);
        });
        expect(screen.getByRole('button', {name: 'Attach from file host'})).toBeInTheDocument();
    });

    it('opens the dialog, follows the connection, and closes it again', async () => {
        const user = userEvent.setup();
        const server = new Server();
        web.show();

        await user.click(await screen.findByRole('button', {name: 'Attach from Company Cloud'}));
        expect(await screen.findByRole('dialog', {name: 'Company Cloud'})).toBeInTheDocument();

        server.finishSignIn();
        act(() => web.events.get(`custom_${manifest.id}_connection`)?.());
        expect(await screen.findByText('alice')).toBeInTheDocument();

        await user.click(screen.getByRole('button', {name: 'Close'}));
        await vi.waitFor(() => {
            expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
        });
        await user.click(screen.getByRole('button', {name: 'Attach from Company Cloud'}));
        expect(await screen.findByRole('dialog', {name: 'Company Cloud'})).toBeInTheDocument();
    });
});
