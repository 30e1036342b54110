import React, {useEffect, useRef, type ReactElement} from 'react';
import {FormattedMessage, useIntl, type MessageDescriptor} from 'react-intl';

import type {ApiError} from '../client';
import {messages} from './connectWords';
import {FileIcon, Icon} from './icons';
import {sizeText} from './measures';
import {isSettled, tally, type Job, type Transfer} from './transfer';
import {words} from './words';

type Props = {transfer: Transfer; onCancel: (id: string) => void; onRetry: (id: string) => void};

/** What becomes of each file on its way into the message. */
export function Progress({transfer, onCancel, onRetry}: Props): ReactElement {
    const heading = useRef<HTMLHeadingElement>(null);
    useEffect(() => {
        heading.current?.focus();
    }, []);
    const {failed} = tally(transfer);
    return (
        <div className='filehost-attach__progress'>
            <h2
                ref={heading}
                tabIndex={-1}
            >
                {isSettled(transfer) && failed > 0 ? (
                    <FormattedMessage
                        {...words.someFailed}
                        values={{failed}}
                    />
                ) : (
                    <FormattedMessage
                        {...words.attaching}
                        values={{count: transfer.length}}
                    />
                )}
            </h2>
            <ul>
                {transfer.map((job) => (
                    <JobItem
                        key={job.entry.id}
                        job={job}
                        onCancel={onCancel}
                        onRetry={onRetry}
                    />
                ))}
            </ul>
        </div>
    );
}

const states: Record<Exclude<Job['state'], 'failed'>, MessageDescriptor> = {
    waiting: words.stateWaiting,
    copying: words.stateCopying,
    done: words.stateDone,
    cancelled: words.stateCancelled,
};

function JobItem({job: {entry, state, problem}, onCancel, onRetry}: {job: Job} & Omit<Props, 'transfer'>): ReactElement {
    const intl = useIntl();
    const act = state === 'waiting' || state === 'copying' ? onCancel : onRetry;
    const name = act === onCancel ? words.cancelFile : words.retryFile;
    return (
        <li className={`is-${state}`}>
            <FileIcon
                entry={entry}
                size={32}
            />
            <span className='filehost-attach__texts'>
                <bdi title={entry.name}>{entry.name}</bdi>
                <span className='filehost-attach__reason'>
                    {state === 'failed' ? <Reason problem={problem}/> : (
                        <>
                            <FormattedMessage {...states[state]}/>
                            {` · ${sizeText(intl, entry.size)}`}
                        </>
                    )}
                </span>
                {state === 'copying' && (
                    <span
                        className='filehost-attach__bar'
                        role='progressbar'
                        aria-label={entry.name}
                    />
                )}
            </span>
            {state === 'done' ? <Icon name='check'/> : (
                <button
                    type='button'
                    className='filehost-attach__square'
                    aria-label={intl.formatMessage(name, {name: entry.name})}
                    onClick={() => {
                        act(entry.id);
                    }}
                >
                    <Icon name={act === onCancel ? 'cancel' : 'retry'}/>
                </button>
            )}
        </li>
    );
}

/** Why a file could not be copied. */
function Reason({problem}: {problem: ApiError | undefined}): ReactElement {
    switch (problem?.code) {
    case 'offline':
        return <FormattedMessage {...messages.offline}/>;
    case 'unreadable':
        return <FormattedMessage {...messages.unexpected}/>;
    case 'changed':
        return <FormattedMessage {...words.changed}/>;
    case 'not_found':
        return <FormattedMessage {...words.gone}/>;
    default:
        return <>{problem?.message}</>;
    }
}
