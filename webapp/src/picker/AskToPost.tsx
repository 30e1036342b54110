import React, {useEffect, useRef, useState, type ReactElement} from 'react';
import {Modal} from 'react-bootstrap';
import {FormattedMessage} from 'react-intl';

import {asApiError, type ApiError, type Client, type Target} from '../client';
import type {Attached} from '../types';
import {messages} from './connectWords';
import {keyAfter, newKey} from './key';
import {Button, Problem} from './parts';
import type {Selection} from './selection';
import {words} from './words';

type Props = {client: Client; target: Target; selection: Selection; onBack: () => void; onPosted: () => void};

type State = {key: string; busy: boolean; problem?: ApiError; failed?: Attached['items']};

/** Asks before files are posted at once, where the web client has no way into the message that is being written. */
export function AskToPost({client, target, selection, onBack, onPosted}: Props): ReactElement {
    const question = useRef<HTMLParagraphElement>(null);
    const request = useRef<AbortController | null>(null);
    const [{key, busy, problem, failed}, setState] = useState<State>(() => ({key: newKey(), busy: false}));

    useEffect(() => {
        question.current?.focus();
        return () => {
            request.current?.abort();
        };
    }, []);

    const post = () => {
        const own = new AbortController();
        request.current = own;
        setState({key, busy: true});
        client.post(target, selection, key, own.signal).then(
            ({items}) => {
                const refused = items.filter(({error}) => error);
                if (own.signal.aborted) {
                    return;
                }
                if (refused.length > 0) {
                    setState({key, busy: false, failed: refused});
                } else {
                    onPosted();
                }
            },
            (error: unknown) => {
                if (!own.signal.aborted) {
                    const reason = asApiError(error);
                    setState({key: keyAfter(reason, key, newKey), busy: false, problem: reason});
                }
            },
        );
    };

    if (failed) {
        return (
            <Failures
                items={failed}
                onDone={onPosted}
            />
        );
    }
    return (
        <>
            <Modal.Body>
                <Problem problem={problem}/>
                <p
                    ref={question}
                    tabIndex={-1}
                >
                    <FormattedMessage {...(target.rootId ? words.askPostThread : words.askPost)}/>
                </p>
                <ul className='filehost-attach__names'>
                    {selection.map(({id, name}) => <li key={id}><bdi>{name}</bdi></li>)}
                </ul>
                <p className='filehost-attach__help'>
                    <FormattedMessage {...words.askPostHelp}/>
                </p>
            </Modal.Body>
            <Modal.Footer>
                <Button
                    kind='tertiary'
                    onClick={onBack}
                >
                    <FormattedMessage {...messages.back}/>
                </Button>
                <Button
                    kind='primary'
                    busy={busy}
                    onClick={post}
                >
                    <FormattedMessage {...words.postNow}/>
                </Button>
            </Modal.Footer>
        </>
    );
}

/** The others were posted. */
function Failures({items, onDone}: {items: Attached['items']; onDone: () => void}): ReactElement {
    return (
        <>
            <Modal.Body>
                <div role='alert'>
                    <p>
                        <FormattedMessage
                            {...words.someFailed}
                            values={{failed: items.length}}
                        />
                    </p>
                    <ul>
                        {items.map(({name, error}, index) => (
                            <li key={index}>
                                <bdi>{name}</bdi>
                                <p className='filehost-attach__help'>{error?.message}</p>
                            </li>
                        ))}
                    </ul>
                </div>
            </Modal.Body>
            <Modal.Footer>
                <Button
                    kind='primary'
                    autoFocus={true}
                    onClick={onDone}
                >
                    <FormattedMessage {...messages.done}/>
                </Button>
            </Modal.Footer>
        </>
    );
}
