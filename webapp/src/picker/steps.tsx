import React, {useEffect, useRef, useState, type ReactElement} from 'react';
import {Modal} from 'react-bootstrap';
import {FormattedDate, FormattedMessage, type MessageDescriptor} from 'react-intl';

import type {ApiError} from '../client';
import {messages} from './connectWords';
import type {At, Page} from './connection';
import {Button, Field, onSubmit, Problem} from './parts';
import type {Actions} from './useConnection';

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

/** The host is connected by itself. */
export function Connecting({view}: {view: At<'connecting'>}): ReactElement {
    return (
        <Modal.Body>
            <p>
                <FormattedMessage
                    {...messages.connecting}
                    values={{host: view.connection.host.name}}
                />
            </p>
        </Modal.Body>
    );
}

/** Waits for the end of a sign-in, and takes the code of one that ended where nobody was logged in. */
export function Waiting({view, actions}: {view: At<'waiting'>; actions: Actions}): ReactElement {
    const {connection, method, page, busy, problem} = view;
    const [code, setCode] = useState('');
    const back = (
        <Button
            kind='tertiary'
            aside={true}
            busy={busy}
            onClick={() => {
                actions.choose(method);
            }}
        >
            <FormattedMessage {...messages.back}/>
        </Button>
    );
    if (method === 'login_flow') {
        return (
            <>
                <Modal.Body>
                    <Problem problem={problem}/>
                    <SignInPage
                        page={page}
                        host={connection.host.name}
                        words={messages.waitingForGrant}
                    />
                </Modal.Body>
                <Modal.Footer>{back}</Modal.Footer>
            </>
        );
    }
    return (
        <form
            onSubmit={onSubmit(busy, () => {
                actions.confirm(code.trim());
            })}
        >
            <Modal.Body>
                <Problem problem={problem}/>
                <SignInPage
                    page={page}
                    host={connection.host.name}
                    words={messages.waiting}
                />
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
                {back}
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

/** Leads to the page of the host's, which should be open by now. */
function SignInPage({page, host, words}: {page: Page | undefined; host: string; words: MessageDescriptor}): ReactElement | null {
    if (!page) {
        return null;
    }
    return (
        <>
            <p>
                <FormattedMessage
                    {...(page.blocked ? messages.blocked : words)}
                    values={{host}}
                />
            </p>
            <p>
                <a
                    href={page.address}
                    target='_blank'
                    rel='noopener noreferrer'
                >
                    <FormattedMessage {...(page.blocked ? messages.openSignIn : messages.openSignInAgain)}/>
                </a>
            </p>
        </>
    );
}

/** Shows with which account the user has signed in, before anything is connected. */
export function Pending({view, actions}: {view: At<'pending'>; actions: Actions}): ReactElement | null {
    const {connection: {host, pending}, busy, problem} = view;
    const question = useRef<HTMLParagraphElement>(null);

    // It comes by itself, maybe while the user presses a key: no button has the focus then.
    useEffect(() => {
        question.current?.focus();
    }, []);
    if (!pending) {
        return null;
    }
    return (
        <>
            <Modal.Body>
                <Problem problem={problem}/>
                <p
                    ref={question}
                    tabIndex={-1}
                >
                    <FormattedMessage
                        {...messages.pending}
                        values={{host: host.name}}
                    />
                </p>
                <dl>
                    {pending.display_name && (
                        <>
                            <dt><FormattedMessage {...messages.displayName}/></dt>
                            <dd>{pending.display_name}</dd>
                        </>
                    )}
                    <dt><FormattedMessage {...messages.account}/></dt>
                    <dd>{pending.account}</dd>
                    {pending.email && (
                        <>
                            <dt><FormattedMessage {...messages.email}/></dt>
                            <dd>{pending.email}</dd>
                        </>
                    )}
                </dl>
                <p className='filehost-attach__help'>
                    <FormattedMessage {...messages.pendingHelp}/>
                </p>
            </Modal.Body>
            <Modal.Footer>
                <Button
                    kind='tertiary'
                    aside={true}
                    busy={busy}
                    onClick={() => {
                        actions.accept(false);
                    }}
                >
                    <FormattedMessage {...messages.notMe}/>
                </Button>
                <Button
                    kind='primary'
                    busy={busy}
                    onClick={() => {
                        actions.accept(true);
                    }}
                >
                    <FormattedMessage {...messages.accept}/>
                </Button>
            </Modal.Footer>
        </>
    );
}

/** Shows as whom the user is connected. */
export function Connected({view, actions, close}: {view: At<'connected'>; actions: Actions; close: () => void}): ReactElement {
    const {connection: {host, account, grant, since, last_used: lastUsed}, busy, problem} = view;
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
                {grant === 'service_account' && (
                    <p>
                        <FormattedMessage
                            {...messages.connectedShared}
                            values={{host: host.name}}
                        />
                    </p>
                )}
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
