import React, {useCallback, useState, type ReactElement} from 'react';
import {FormattedMessage, type MessageDescriptor} from 'react-intl';

import type {Client} from '../client';
import {Frame} from '../Frame';
import type {Signal} from '../signal';
import type {Connection} from '../types';
import type {View} from './connection';
import {messages} from './connectWords';
import css from './dialog.css?raw';
import {Offer} from './offers';
import {Spoken} from './parts';
import {Connected as Account, Connecting, Failed, Loading, Pending, Unconfigured, Waiting} from './steps';
import pickerCss from './picker.css?raw';
import {useConnection, type Actions} from './useConnection';

type Props = {
    client: Client;

    /** Emitted when the user's connection has changed, here or elsewhere. */
    changed: Signal;

    /** The dialog is gone from the screen. */
    onClosed: () => void;

    /** What the dialog is for once the user is connected, with the name of the host; without it, to attach files. */
    purpose?: MessageDescriptor;

    /** Whether what is shown then is large. */
    wide?: boolean;

    /** What is shown to a user who is connected; without it, as whom he is. */
    children?: (connected: Connected) => ReactElement;
};

/** What a dialog knows and can do once its user is connected. */
export type Connected = {
    connection: Connection;

    /** The host says that he is not connected after all. */
    onDisconnected: () => void;

    /** Shows as whom he is connected. */
    onAccount: () => void;
    close: () => void;
};

/** The dialog in which a user connects to the file host, and then goes on to its files. */
export function ConnectDialog({client, changed, onClosed, purpose = messages.attachFrom, wide = true, children}: Props): ReactElement {
    const [open, setOpen] = useState(true);
    const [lookedAt, setLookedAt] = useState<{since: string | undefined}>();
    const [view, actions] = useConnection(client, changed);
    const {retry} = actions;
    const close = useCallback(() => {
        setOpen(false);
    }, []);

    // Who has ended his connection there is not sent back to it when he connects again.
    const account = lookedAt !== undefined && view.step === 'connected' && lookedAt.since === view.connection.since;
    const goesOn = children !== undefined && view.step === 'connected' && !account;

    return (
        <Frame
            open={open}
            wide={goesOn && wide}
            onClose={close}
            onClosed={onClosed}
            title={(
                <Title
                    view={view}
                    purpose={goesOn ? purpose : undefined}
                />
            )}
        >
            <style>{css + pickerCss}</style>
            <Spoken>
                <Said view={view}/>
            </Spoken>
            {goesOn ? children({
                connection: view.connection,
                onDisconnected: retry,
                onAccount: () => {
                    setLookedAt({since: view.connection.since});
                },
                close,
            }) : (
                <Step
                    view={view}
                    actions={actions}
                    close={account ? () => {
                        setLookedAt(undefined);
                    } : close}
                />
            )}
        </Frame>
    );
}

function Title({view, purpose}: {view: View; purpose: MessageDescriptor | undefined}): ReactElement {
    if (!('connection' in view)) {
        return <FormattedMessage {...messages.fileHost}/>;
    }
    const {host: {name: host}} = view.connection;
    return purpose ? (
        <FormattedMessage
            {...purpose}
            values={{host}}
        />
    ) : <>{host}</>;
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
            <Account
                view={view}
                actions={actions}
                close={close}
            />
        );
    }
}

/** That the dialog went on by itself. */
function Said({view}: {view: View}): ReactElement | null {
    const words = spoken(view);
    return words && 'connection' in view ? (
        <FormattedMessage
            {...words}
            values={{host: view.connection.host.name}}
        />
    ) : null;
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
