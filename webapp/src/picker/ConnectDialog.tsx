import React, {useState, type ReactElement} from 'react';
import {FormattedMessage, type MessageDescriptor} from 'react-intl';

import type {Client} from '../client';
import {Frame} from '../Frame';
import {messages} from '../messages';
import type {Signal} from '../signal';
import type {View} from './connection';
import css from './dialog.css?raw';
import {Offer} from './offers';
import {Connected, Connecting, Failed, Loading, Pending, Unconfigured, Waiting} from './steps';
import {useConnection, type Actions} from './useConnection';

type Props = {
    client: Client;

    /** Emitted when the user's connection has changed, here or elsewhere. */
    changed: Signal;

    /** The dialog is gone from the screen. */
    onClosed: () => void;
};

/** The dialog in which a user connects to the file host, and sees as whom he is connected. */
export function ConnectDialog({client, changed, onClosed}: Props): ReactElement {
    const [open, setOpen] = useState(true);
    const [view, actions] = useConnection(client, changed);
    const close = () => {
        setOpen(false);
    };

    return (
        <Frame
            open={open}
            onClose={close}
            onClosed={onClosed}
            title={'connection' in view ? view.connection.host.name : <FormattedMessage {...messages.fileHost}/>}
        >
            <style>{css}</style>
            <Spoken view={view}/>
            <Step
                view={view}
                actions={actions}
                close={close}
            />
        </Frame>
    );
}

function Step({view, actions, close}: {view: View; actions: Actions; close: () => void}): ReactElement {
    switch (view.step) {
    case 'loading':
        return <Loading/>;
    case 'unconfigured':
        return <Unconfigured close={close}/>;
    case 'failed':
        return (
            <Failed
                problem={view.problem}
                retry={actions.retry}
            />
        );
    case 'connecting':
        return <Connecting view={view}/>;
    case 'disconnected':
        return (
            <Offer
                view={view}
                actions={actions}
            />
        );
    case 'waiting':
        return (
            <Waiting
                view={view}
                actions={actions}
            />
        );
    case 'pending':
        return (
            <Pending
                view={view}
                actions={actions}
            />
        );
    case 'connected':
        return (
            <Connected
                view={view}
                actions={actions}
                close={close}
            />
        );
    }
}

/** Tells a screen reader that the dialog went on by itself. */
function Spoken({view}: {view: View}): ReactElement {
    const words = spoken(view);
    return (
        <div
            role='status'
            className='sr-only'
        >
            {words && 'connection' in view && (
                <FormattedMessage
                    {...words}
                    values={{host: view.connection.host.name}}
                />
            )}
        </div>
    );
}

function spoken(view: View): MessageDescriptor | undefined {
    switch (view.step) {
    case 'connecting':
        return messages.connecting;
    case 'connected':
        return messages.connected;
    case 'waiting':
        if (!view.page) {
            return undefined;
        }
        if (view.page.blocked) {
            return messages.blocked;
        }
        return view.method === 'login_flow' ? messages.waitingForGrant : messages.waiting;
    default:
        return undefined;
    }
}
