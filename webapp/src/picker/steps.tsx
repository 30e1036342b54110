import React, {useState, type FormEvent, type ReactElement} from 'react';
import {Modal} from 'react-bootstrap';
import {FormattedDate, FormattedMessage} from 'react-intl';

import type {ApiError} from '../client';
import {messages} from '../messages';
import type {View} from './connection';
import {Button, Field, Problem} from './parts';
import type {Actions} from './useConnection';

type At<Step extends View['step']> = Extract<View, {step: Step}>;

/** Nothing is known yet. */
export function Loading(): ReactElement {
    return (
        <Modal.Body>
            <p>
                <FormattedMessage {...messages.loading}/>
            </p>
        </Modal.Body>
    );
}

/** The admin has to act first. */
export function Unconfigured({close}: {close: () => void}): ReactElement {
    return (
        <>
            <Modal.Body>
                <p role='alert'>
                    <FormattedMessage {...messages.notConfigured}/>
                </p>
            </Modal.Body>
            <Modal.Footer>
                <Button
                    kind='primary'
                    autoFocus={true}
                    onClick={close}
                >
                    <FormattedMessage {...messages.close}/>
                </Button>
            </Modal.Footer>
        </>
    );
}

/** The state of the connection could not be learned. */
export function Failed({problem, retry}: {problem: ApiError; retry: () => void}): ReactElement {
    return (
        <>
            <Modal.Body>
                <Problem problem={problem}/>
            </Modal.Body>
            <Modal.Footer>
                <Button
                    kind='primary'
                    autoFocus={true}
                    onClick={retry}
                >
                    <FormattedMessage {...messages.tryAgain}/>
                </Button>
            </Modal.Footer>
        </>
    );
}

/** Connects on the sign-in page of the host. */
export function SignIn({view, actions}: {view: At<'disconnected'>; actions: Actions}): ReactElement {
    const {connection, busy, problem} = view;
    const host = connection.host.name;
    return (
        <>
            <Modal.Body>
                <Problem problem={problem}/>
                <Reconnect view={view}/>
                <p>
                    <FormattedMessage
                        {...messages.connectBySignIn}
                        values={{host}}
                    />
                </p>
            </Modal.Body>
            <Modal.Footer>
                <Button
                    kind='tertiary'
                    aside={true}
                    busy={busy}
                    onClick={actions.offerCode}
                >
                    <FormattedMessage {...messages.haveCode}/>
                </Button>
                <Button
                    kind='primary'
                    autoFocus={true}
                    busy={busy}
                    onClick={actions.signIn}
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

/** Connects with an app password. */
export function PasswordForm({view, actions}: {view: At<'disconnected'>; actions: Actions}): ReactElement {
    const {connection, busy, problem} = view;
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
                <Problem problem={problem}/>
                <Reconnect view={view}/>
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

function Reconnect({view}: {view: At<'disconnected'>}): ReactElement | null {
    if (view.connection.state !== 'reconnect') {
        return null;
    }
    return (
        <div
            role='alert'
            className='filehost-attach__notice'
        >
            <p>
                <FormattedMessage
                    {...messages.reconnect}
                    values={{host: view.connection.host.name}}
                />
            </p>
        </div>
    );
}

/** Waits for the end of a sign-in, and takes the code of one that ended where nobody was logged in. */
export function Waiting({view, actions}: {view: At<'waiting'>; actions: Actions}): ReactElement {
    const {connection, page, busy, problem} = view;
    const [code, setCode] = useState('');
    return (
        <form
            onSubmit={onSubmit(busy, () => {
                actions.confirm(code.trim());
            })}
        >
            <Modal.Body>
                <Problem problem={problem}/>
                {page && (
                    <>
                        <p>
                            <FormattedMessage
                                {...messages.waiting}
                                values={{host: connection.host.name}}
                            />
                        </p>
                        <p>
                            <a
                                href={page}
                                target='_blank'
                                rel='noopener noreferrer'
                            >
                                <FormattedMessage {...messages.openSignInAgain}/>
                            </a>
                        </p>
                    </>
                )}
                <Field
                    id='filehost-attach-code'
                    label={messages.code}
                    value={code}
                    onChange={setCode}
                    autoComplete='one-time-code'
                    autoFocus={true}
                    className='filehost-attach__code'
                    help={<FormattedMessage {...messages.codeHelp}/>}
                />
            </Modal.Body>
            <Modal.Footer>
                <Button
                    kind='primary'
                    busy={busy}
                >
                    <FormattedMessage {...messages.confirm}/>
                </Button>
            </Modal.Footer>
        </form>
    );
}

/** Shows as whom the user is connected. */
export function Connected({view, actions, close}: {view: At<'connected'>; actions: Actions; close: () => void}): ReactElement {
    const {connection: {host, account, since, last_used: lastUsed}, busy, problem} = view;
    return (
        <>
            <Modal.Body>
                <Problem problem={problem}/>
                <p>
                    <FormattedMessage
                        {...messages.connected}
                        values={{host: host.name}}
                    />
                </p>
                <dl>
                    {account && (
                        <>
                            <dt><FormattedMessage {...messages.account}/></dt>
                            <dd>{account}</dd>
                        </>
                    )}
                    <dt><FormattedMessage {...messages.fileHost}/></dt>
                    <dd>{host.name}</dd>
                    {since && (
                        <>
                            <dt><FormattedMessage {...messages.since}/></dt>
                            <dd><Day time={since}/></dd>
                        </>
                    )}
                    {lastUsed && (
                        <>
                            <dt><FormattedMessage {...messages.lastUsed}/></dt>
                            <dd><Day time={lastUsed}/></dd>
                        </>
                    )}
                </dl>
            </Modal.Body>
            <Modal.Footer>
                <Button
                    kind='danger'
                    aside={true}
                    busy={busy}
                    onClick={actions.disconnect}
                >
                    <FormattedMessage {...messages.disconnect}/>
                </Button>
                <Button
                    kind='primary'
                    autoFocus={true}
                    onClick={close}
                >
                    <FormattedMessage {...messages.done}/>
                </Button>
            </Modal.Footer>
        </>
    );
}

function Day({time}: {time: string}): ReactElement {
    return (
        <time dateTime={time}>
            <FormattedDate
                value={time}
                dateStyle='long'
            />
        </time>
    );
}

/** Handles a form's submit without leaving the page, and not twice. */
function onSubmit(busy: boolean, submit: () => void): (event: FormEvent) => void {
    return (event) => {
        event.preventDefault();
        if (!busy) {
            submit();
        }
    };
}
