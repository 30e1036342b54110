import PropTypes from 'prop-types';
import React, {useState, type ReactElement} from 'react';
import * as ReactBootstrap from 'react-bootstrap';
import ReactDOM from 'react-dom';
import {createRoot} from 'react-dom/client';
import * as ReactIntl from 'react-intl';
import * as ReactRedux from 'react-redux';
import * as Redux from 'redux';

import {loadPlugins, type Registry, type UploadMethod} from './registry';

// What Mattermost's web client gives to the scripts of plugins.
Object.assign(window, {React, ReactDOM, Redux, ReactRedux, ReactIntl, ReactBootstrap, PropTypes});

const {site, theme} = document.documentElement.dataset as {site: string; theme: string};
Object.assign(window, {basename: new URL(site).pathname.replace(/\/$/, '')});

/** A channel with nothing but its editor: what our registrations need of the web client. */
function Channel({registry}: {registry: Registry}): ReactElement {
    return (
        <ReactIntl.IntlProvider
            locale='en'
            messages={registry.messages('en')}
        >
            <main className={`channel theme-${theme}`}>
                <h1>{'Town Square'}</h1>
                <form className='AdvancedTextEditor'>
                    <textarea aria-label='Write to Town Square'/>
                    <Paperclip methods={registry.uploadMethods}/>
                </form>
            </main>
            {registry.roots.map((Root, index) => <Root key={index}/>)}
        </ReactIntl.IntlProvider>
    );
}

function Paperclip({methods}: {methods: UploadMethod[]}): ReactElement {
    const [open, setOpen] = useState(false);
    return (
        <div className='paperclip'>
            <button
                type='button'
                aria-label='attachment'
                aria-expanded={open}
                onClick={() => {
                    setOpen(!open);
                }}
            >
                {'+'}
            </button>
            <ul hidden={!open}>
                {methods.map(({icon, action, text}, index) => (
                    <li key={index}>
                        <a
                            href='#'
                            onClick={(event) => {
                                event.preventDefault();
                                action(() => undefined);
                                setOpen(false);
                            }}
                        >
                            <span className='mr-2'>{icon}</span>
                            {text}
                        </a>
                    </li>
                ))}
            </ul>
        </div>
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
    const registry = await loadPlugins(site, Redux.legacy_createStore(() => ({})));
    await listen(registry);

    const root = document.createElement('div');
    document.body.append(root);
    createRoot(root).render(<Channel registry={registry}/>);
}

void start();
