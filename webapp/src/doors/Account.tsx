import React, {useCallback, useEffect, useRef, useState, type ReactElement} from 'react';
import {FormattedDate, FormattedMessage, type MessageDescriptor} from 'react-intl';

import {asApiError, type ApiError, type Client} from '../client';
import {messages} from '../picker/connectWords';
import {Button, Problem} from '../picker/parts';
import type {Words} from '../picker/translations';
import type {Signal} from '../signal';
import type {Connection} from '../types';
import {Worded} from './Worded';
import {words as said} from './words';

export {loadAllWords} from './allWords';

type Props = {
    client: Client;

    /** Emitted when the user's connection has changed. */
    changed: Signal;
    onConnect: () => void;
    words: Words;
};

/** Shows as whom the user is connected, and connects and disconnects. */
export function Account({client, changed, onConnect, words}: Props): ReactElement {
    const [connection, setConnection] = useState<Connection>();
    const [problem, setProblem] = useState<ApiError>();
    const [asking, setAsking] = useState(false);
    const [busy, setBusy] = useState(false);
    const request = useRef<AbortController | null>(null);

    const run = useCallback((work: (signal: AbortSignal) => Promise<Connection>) => {
        request.current?.abort();
        const own = new AbortController();
        request.current = own;
        work(own.signal).then(
            (now) => {
                if (!own.signal.aborted) {
                    setConnection(now);
                    setProblem(undefined);
                    setAsking(false);
                    setBusy(false);
                }
            },
            (error: unknown) => {
                if (!own.signal.aborted) {
                    setProblem(asApiError(error));
                    setBusy(false);
                }
            },
        );
    }, []);
    const check = useCallback(() => {
        run((signal) => client.connection(signal));
    }, [client, run]);
    useEffect(() => {
        check();
        return () => {
            request.current?.abort();
        };
    }, [check]);
    useEffect(() => (busy ? undefined : changed.subscribe(check)), [busy, changed, check]);

    const disconnect = () => {
        setBusy(true);
        run(async (signal) => {
            await client.disconnect(signal);
            return client.connection(signal);
        });
    };
    return (
        <Worded words={words}>
            <div className='filehost-attach-account'>
                <Problem problem={problem}/>
                {problem && !connection && (
                    <Button
                        kind='tertiary'
                        onClick={check}
                    >
                        <FormattedMessage {...messages.tryAgain}/>
                    </Button>
                )}
                {!connection && !problem && (
                    <p>
                        <FormattedMessage {...messages.loading}/>
                    </p>
                )}
                {connection && (
                    <>
                        <Facts connection={connection}/>
                        <Acts
                            connection={connection}
                            asking={asking}
                            busy={busy}
                            onAsk={setAsking}
                            onConnect={onConnect}
                            onDisconnect={disconnect}
                        />
                    </>
                )}
            </div>
        </Worded>
    );
}

function Facts({connection: {state, host, account, grant, since, last_used: lastUsed}}: {connection: Connection}): ReactElement {
    if (state !== 'connected') {
        return (
            <p>
                <FormattedMessage
                    {...said.notConnected}
                    values={{host: host.name}}
                />
            </p>
        );
    }
    return (
        <>
            <p>
                <FormattedMessage
                    {...(grant === 'service_account' ? messages.connectedShared : messages.connected)}
                    values={{host: host.name}}
                />
            </p>
            <dl>
                {account && (
                    <>
                        <dt><FormattedMessage {...messages.account}/></dt>
                        <dd><bdi>{account}</bdi></dd>
                    </>
                )}
                <Day
                    name={messages.since}
                    time={since}
                />
                <Day
                    name={messages.lastUsed}
                    time={lastUsed}
                />
            </dl>
        </>
    );
}

function Day({name, time}: {name: MessageDescriptor; time: string | undefined}): ReactElement | null {
    return time === undefined ? null : (
        <>
            <dt><FormattedMessage {...name}/></dt>
            <dd>
                <time dateTime={time}>
                    <FormattedDate
                        value={time}
                        dateStyle='long'
                    />
                </time>
            </dd>
        </>
    );
}

type ActsProps = {
    connection: Connection;
    asking: boolean;
    busy: boolean;
    onAsk: (asking: boolean) => void;
    onConnect: () => void;
    onDisconnect: () => void;
};

/** What the user can do; to disconnect, he says so twice. */
function Acts({connection: {state, host}, asking, busy, onAsk, onConnect, onDisconnect}: ActsProps): ReactElement {
    if (state !== 'connected') {
        return (
            <Button
                kind='primary'
                onClick={onConnect}
            >
                <FormattedMessage
                    {...messages.connect}
                    values={{host: host.name}}
                />
            </Button>
        );
    }
    if (!asking) {
        return (
            <Button
                kind='tertiary'
                onClick={() => {
                    onAsk(true);
                }}
            >
                <FormattedMessage {...messages.disconnect}/>
            </Button>
        );
    }
    return (
        <div role='alert'>
            <p>
                <FormattedMessage
                    {...said.reallyDisconnect}
                    values={{host: host.name}}
                />
            </p>
            <div style={{display: 'flex', flexWrap: 'wrap', gap: 8}}>
                <Button
                    kind='tertiary'
                    autoFocus={true}
                    onClick={() => {
                        onAsk(false);
                    }}
                >
                    <FormattedMessage {...said.keepConnection}/>
                </Button>
                <Button
                    kind='danger'
                    busy={busy}
                    onClick={onDisconnect}
                >
                    <FormattedMessage {...messages.disconnect}/>
                </Button>
            </div>
        </div>
    );
}
