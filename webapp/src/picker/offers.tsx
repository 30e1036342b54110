import React, {useState, type ReactElement} from 'react';
import {Modal} from 'react-bootstrap';
import {FormattedMessage} from 'react-intl';

import {messages, methodNames} from './connectWords';
import type {Method} from '../types';
import type {At} from './connection';
import {Button, Field, Notice, onSubmit, Problem} from './parts';
import type {Actions} from './useConnection';

type Props = {view: At<'disconnected'>; actions: Actions};

/** Offers the way to connect that the user has chosen, or the best one, and the others below it. */
export function Offer(props: Props): ReactElement {
    return props.view.method === 'password' ? <PasswordForm {...props}/> : <SignIn {...props}/>;
}

/** Connects on a page of the host's, or without one where nothing but the user's word is missing. */
function SignIn({view, actions}: Props): ReactElement {
    const {connection, method, busy} = view;
    const host = connection.host.name;
    return (
        <>
            <Modal.Body>
                <WhatHappened view={view}/>
                <p>
                    <FormattedMessage
                        {...signInWords(method)}
                        values={{host}}
                    />
                </p>
                <OtherMethods
                    view={view}
                    actions={actions}
                />
            </Modal.Body>
            <Modal.Footer>
                {method === 'oauth' && (
                    <Button
                        kind='tertiary'
                        aside={true}
                        busy={busy}
                        onClick={actions.offerCode}
                    >
                        <FormattedMessage {...messages.haveCode}/>
                    </Button>
                )}
                <Button

                    // The focus goes to the button of each method that is chosen.
                    key={method}
                    kind='primary'
                    autoFocus={true}
                    busy={busy}
                    onClick={() => {
                        actions.begin(method);
                    }}
                >
                    <FormattedMessage
                        {...messages.connect}
                        values={{host}}
                    />
                </Button>
            </Modal.Footer>
        </>
    );
}

function signInWords(method: Method) {
    switch (method) {
    case 'oauth':
        return messages.connectBySignIn;
    case 'login_flow':
        return messages.connectByGrant;
    case 'service_account':
        return messages.connectShared;
    default:
        return messages.connectByPassword;
    }
}

/** Connects with an app password. */
function PasswordForm({view, actions}: Props): ReactElement {
    const {connection, busy} = view;
    const host = connection.host.name;
    const [username, setUsername] = useState(connection.account ?? '');
    const [password, setPassword] = useState('');
    return (
        <form
            onSubmit={onSubmit(busy, () => {
                actions.connectWithPassword(username, password);
            })}
        >
            <Modal.Body>
                <WhatHappened view={view}/>
                <p>
                    <FormattedMessage
                        {...messages.connectByPassword}
                        values={{host}}
                    />
                </p>
                <Field
                    id='filehost-attach-username'
                    label={messages.username}
                    value={username}
                    onChange={setUsername}
                    autoComplete='off'
                    autoFocus={true}
                />
                <Field
                    id='filehost-attach-password'
                    label={messages.appPassword}
                    type='password'
                    value={password}
                    onChange={setPassword}
                    autoComplete='off'
                    help={(
                        <FormattedMessage
                            {...messages.appPasswordHelp}
                            values={{host}}
                        />
                    )}
                />
                <OtherMethods
                    view={view}
                    actions={actions}
                />
            </Modal.Body>
            <Modal.Footer>
                <Button
                    kind='primary'
                    busy={busy}
                >
                    <FormattedMessage
                        {...messages.connect}
                        values={{host}}
                    />
                </Button>
            </Modal.Footer>
        </form>
    );
}

/** The ways to connect that the user has not chosen. */
function OtherMethods({view: {connection, method, busy}, actions}: Props): ReactElement | null {
    const others = connection.methods.filter((other) => other !== method);
    if (others.length === 0) {
        return null;
    }
    return (
        <div className='filehost-attach__others'>
            <p id='filehost-attach-others'>
                <FormattedMessage {...messages.otherMethods}/>
            </p>
            <ul aria-labelledby='filehost-attach-others'>
                {others.map((other) => (
                    <li key={other}>
                        <Button
                            kind='link'
                            busy={busy}
                            onClick={() => {
                                actions.choose(other);
                            }}
                        >
                            <FormattedMessage {...methodNames[other]}/>
                        </Button>
                    </li>
                ))}
            </ul>
        </div>
    );
}

/** Why the user has to connect, and why what he has tried has not. */
function WhatHappened({view: {connection, expired, problem}}: {view: At<'disconnected'>}): ReactElement | null {
    const values = {host: connection.host.name};
    const {refused} = connection;
    if (problem) {
        return <Problem problem={problem}/>;
    }
    if (expired) {
        return (
            <Notice>
                <FormattedMessage {...messages.expired}/>
            </Notice>
        );
    }
    if (refused) {
        const words = refused.method === 'login_flow' ? messages.notConnected : messages.refused;
        return (
            <Notice>
                <FormattedMessage
                    {...words}
                    values={{...values, method: <FormattedMessage {...methodNames[refused.method]}/>, reason: refused.reason}}
                />
            </Notice>
        );
    }
    if (connection.state === 'reconnect') {
        return (
            <Notice>
                <FormattedMessage
                    {...messages.reconnect}
                    values={values}
                />
            </Notice>
        );
    }
    return null;
}
