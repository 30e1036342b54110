import React, {useEffect, useRef, useState, type ReactElement} from 'react';
import {Modal} from 'react-bootstrap';
import {FormattedMessage, type MessageDescriptor} from 'react-intl';

import {asApiError, type ApiError} from '../client';
import type {Connected} from '../picker/ConnectDialog';
import {messages} from '../picker/connectWords';
import {Button, Problem, Spoken} from '../picker/parts';
import {refresh, type Refreshed} from './calls';
import {forgetFreshness} from './freshness';
import {words as said} from './words';

type State = {items?: Refreshed[]; busy: boolean; done?: boolean; problem?: ApiError};

/** Shows what became of the files of a post, and brings in what is newer. */
export function Newer({connection: {host}, postId, onDisconnected, close}: Connected & {postId: string}): ReactElement {
    const [{items, busy, done = false, problem}, setState] = useState<State>({busy: true});
    const request = useRef<AbortController | null>(null);
    const [ask] = useState(() => (dryRun: boolean) => {
        const own = new AbortController();
        request.current?.abort();
        request.current = own;
        refresh(postId, dryRun, own.signal).then(
            (refreshed) => {
                if (!own.signal.aborted) {
                    forgetFreshness(postId);
                    setState({items: refreshed.items, busy: false, done: !dryRun});
                }
            },
            (error: unknown) => {
                const reason = asApiError(error);
                if (own.signal.aborted) {
                    return;
                }
                if (reason.code === 'not_connected') {
                    onDisconnected();
                } else {
                    setState((before) => ({...before, busy: false, problem: reason}));
                }
            },
        );
    });
    useEffect(() => {
        ask(true);
        return () => {
            request.current?.abort();
        };
    }, [ask]);

    const newer = !done && (items?.some(({state}) => state === 'changed' || state === 'renamed') ?? false);
    const unchanged = items?.every(({state}) => state === 'unchanged') ?? false;
    return (
        <>
            <Modal.Body>
                <Spoken>
                    {busy && <FormattedMessage {...messages.loading}/>}
                    {done && <FormattedMessage {...said.broughtIn}/>}
                </Spoken>
                <Problem problem={problem}/>
                {!items && busy && <p><FormattedMessage {...messages.loading}/></p>}
                {done && <p><FormattedMessage {...said.broughtIn}/></p>}
                {unchanged && !done && <p><FormattedMessage {...said.asBefore}/></p>}
                {items && !done && !unchanged && (
                    <dl>
                        {items.map(({name, state, error}, index) => (
                            <React.Fragment key={index}>
                                <dt><bdi>{name}</bdi></dt>
                                <dd>
                                    {state === 'unknown' ? error?.message : (
                                        <FormattedMessage
                                            {...states[state]}
                                            values={{host: host.name}}
                                        />
                                    )}
                                </dd>
                            </React.Fragment>
                        ))}
                    </dl>
                )}
            </Modal.Body>
            <Modal.Footer>
                <Button
                    kind={newer ? 'tertiary' : 'primary'}
                    autoFocus={true}
                    onClick={close}
                >
                    <FormattedMessage {...(newer ? said.cancel : messages.done)}/>
                </Button>
                {newer && (
                    <Button
                        kind='primary'
                        busy={busy}
                        onClick={() => {
                            setState({...(items && {items}), busy: true});
                            ask(false);
                        }}
                    >
                        <FormattedMessage {...said.bringIn}/>
                    </Button>
                )}
            </Modal.Footer>
        </>
    );
}

const states: Record<Exclude<Refreshed['state'], 'unknown'>, MessageDescriptor> = {
    unchanged: said.unchanged,
    changed: said.changed,
    renamed: said.renamed,
    gone: said.gone,
};
