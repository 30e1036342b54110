import PropTypes from 'prop-types';
import React, {useState, type ReactElement} from 'react';
import * as ReactBootstrap from 'react-bootstrap';
import ReactDOM from 'react-dom';
import {createRoot} from 'react-dom/client';
import * as ReactIntl from 'react-intl';
import * as ReactRedux from 'react-redux';
import * as Redux from 'redux';

import {Editor, type Toolbar} from './Editor';
import {Mattermost, type Post} from './mattermost';
import {Posts, Settings} from './Posts';
import {loadPlugins, type Draft, type Registry} from './registry';

// What Mattermost's web client gives to the scripts of plugins.
Object.assign(window, {React, ReactDOM, Redux, ReactRedux, ReactIntl, ReactBootstrap, PropTypes});

type Data = {site: string; theme: string; locale: string; channel: string; thread: string; toolbar: Toolbar; posts: string; settings: string};

const {site, theme, locale, channel, thread, toolbar, posts: shown, settings} = document.documentElement.dataset as unknown as Data;
Object.assign(window, {basename: new URL(site).pathname.replace(/\/$/, '')});

const server = new Mattermost(site);

/** A channel with its editor, a thread beside it with another, and what was sent: what our registrations need of the web client. */
function Channel({registry, before}: {registry: Registry; before: Post[]}): ReactElement {
    const [posts, setPosts] = useState(before);
    const send = async (draft: Draft) => {
        const post = await server.send(draft);
        setPosts((before) => [...before, post]);
    };
    return (
        <ReactIntl.IntlProvider
            locale={locale}
            messages={registry.messages(locale)}
            onError={() => undefined}
        >
            <main className={`channel theme-${theme}`}>
                <h1>{'Town Square'}</h1>
                <Posts
                    registry={registry}
                    posts={posts}
                />
                <Editor
                    registry={registry}
                    label='Write to Town Square'
                    channelId={channel}
                    rootId=''
                    toolbar={toolbar}
                    onSend={send}
                />
            </main>
            {thread && (
                <aside
                    className={`theme-${theme}`}
                    aria-label='Thread'
                >
                    <Editor
                        registry={registry}
                        label='Reply to this thread'
                        channelId={channel}
                        rootId={thread}
                        toolbar={toolbar === 'hidden' ? 'hidden' : 'narrow'}
                        onSend={send}
                    />
                </aside>
            )}
            {settings && <Settings registry={registry}/>}
            {registry.roots.map((Root, index) => <Root key={index}/>)}
        </ReactIntl.IntlProvider>
    );
}

/** Hands the server's events to the plugins that asked for them; resolves once the server listens. */
function listen(registry: Registry): Promise<void> {
    return new Promise((resolve) => {
        const socket = new WebSocket(`${site.replace(/^http/, 'ws')}/api/v4/websocket`);
        socket.onmessage = ({data}) => {
            const message = JSON.parse(String(data)) as {event?: string};
            if (message.event === 'hello') {
                resolve();
            }
            registry.handlers.get(message.event ?? '')?.(message);
        };
    });
}

async function start(): Promise<void> {
    document.body.className = `app__body theme-${theme}`;
    const before = await Promise.all(shown.split(' ').filter((id) => id !== '').map((id) => server.post(id)));
    const files = before.flatMap(({metadata}) => metadata.files ?? []);
    const state = {
        entities: {
            users: {currentUserId: await server.me()},
            channels: {currentChannelId: channel},
            posts: {posts: {...Object.fromEntries(before.map((post) => [post.id, post])), ...(thread && {[thread]: {channel_id: channel, root_id: ''}})}},
            files: {files: Object.fromEntries(files.map((file) => [file.id, file]))},
        },
        views: {rhs: {selectedPostId: thread}},
    };
    const registry = await loadPlugins(site, Redux.legacy_createStore(() => state));
    await listen(registry);

    const root = document.createElement('div');
    root.className = 'page';
    document.body.append(root);
    createRoot(root).render(
        <Channel
            registry={registry}
            before={before}
        />,
    );
}

void start();
