import React, {useEffect, useRef, useState, type ReactElement} from 'react';
import {Modal} from 'react-bootstrap';
import {FormattedMessage, useIntl} from 'react-intl';

import type {Client} from '../client';
import type {Connected} from '../picker/ConnectDialog';
import {messages} from '../picker/connectWords';
import {Icon} from '../picker/icons';
import {Button, Problem, Spoken} from '../picker/parts';
import {home, type Place} from '../picker/place';
import {words} from '../picker/words';
import type {FileInfo} from '../types';
import {webAddress, type Conflict, type Folder} from './calls';
import {Folders} from './Folders';
import {useSaving, type Aim, type Job} from './useSaving';
import {words as said} from './words';

type Props = Connected & {client: Client; files: readonly FileInfo[]};

/** Lets the user choose a folder of the host, and saves files of Mattermost in it. */
export function Save({client, connection: {host}, files, onDisconnected, close}: Props): ReactElement {
    const [place, setPlace] = useState<Place>(home);
    const [conflict, setConflict] = useState<Conflict>('rename');
    const [aim, setAim] = useState<Aim>();
    const [jobs, start] = useSaving();

    const save = () => {
        const to: Aim = {folder: {path: place.path, id: place.id}, conflict};
        setAim(to);
        start(files, to);
    };
    if (aim) {
        return (
            <Saved
                client={client}
                host={host.name}
                folder={aim.folder}
                jobs={jobs}
                onRetry={(file) => {
                    start([file], aim);
                }}
                close={close}
            />
        );
    }
    return (
        <>
            <Modal.Body>
                <p>
                    <FormattedMessage
                        {...said.savingFiles}
                        values={{count: files.length}}
                    />
                    {files.length === 1 && <bdi className='filehost-attach__saving'>{files[0]?.name}</bdi>}
                </p>
                <Folders
                    client={client}
                    host={host.name}
                    place={place}
                    onGo={setPlace}
                    onDisconnected={onDisconnected}
                />
            </Modal.Body>
            <Modal.Footer>
                <ConflictChoice
                    conflict={conflict}
                    onChange={setConflict}
                />
                <Button
                    kind='tertiary'
                    onClick={close}
                >
                    <FormattedMessage {...said.cancel}/>
                </Button>
                <Button
                    kind='primary'
                    onClick={save}
                >
                    <FormattedMessage {...said.saveHere}/>
                </Button>
            </Modal.Footer>
        </>
    );
}

function ConflictChoice({conflict, onChange}: {conflict: Conflict; onChange: (conflict: Conflict) => void}): ReactElement {
    const intl = useIntl();
    return (
        <label className='filehost-attach__aside filehost-attach__conflict'>
            <FormattedMessage {...said.conflict}/>
            <select
                className='form-control'
                value={conflict}
                onChange={(event) => {
                    onChange(event.target.value as Conflict);
                }}
            >
                <option value='rename'>{intl.formatMessage(said.keepBoth)}</option>
                <option value='replace'>{intl.formatMessage(said.replace)}</option>
                <option value='fail'>{intl.formatMessage(said.leave)}</option>
            </select>
        </label>
    );
}

type SavedProps = {
    client: Client;
    host: string;
    folder: Folder;
    jobs: readonly Job[];
    onRetry: (file: FileInfo) => void;
    close: () => void;
};

/** What becomes of each file, and at the end the way to the folder. */
function Saved({client, host, folder, jobs, onRetry, close}: SavedProps): ReactElement {
    const done = jobs.filter(({state}) => state === 'done').length;
    const settled = jobs.every(({state}) => state === 'done' || state === 'failed');
    const address = useFolderAddress(client, folder, settled && done > 0);
    const heading = useRef<HTMLHeadingElement>(null);
    useEffect(() => {
        heading.current?.focus();
    }, []);
    const count = (
        <FormattedMessage
            {...said.savedCount}
            values={{done, all: jobs.length}}
        />
    );
    return (
        <>
            <Modal.Body>
                <Spoken>{count}</Spoken>
                <div className='filehost-attach__progress'>
                    <h2
                        ref={heading}
                        tabIndex={-1}
                    >
                        {count}
                    </h2>
                    <ul>
                        {jobs.map((job) => (
                            <JobItem
                                key={job.file.id}
                                job={job}
                                onRetry={onRetry}
                            />
                        ))}
                    </ul>
                    {address && (
                        <p>
                            <a
                                href={address}
                                target='_blank'
                                rel='noopener noreferrer'
                            >
                                <FormattedMessage
                                    {...said.openFolder}
                                    values={{host}}
                                />
                            </a>
                        </p>
                    )}
                </div>
            </Modal.Body>
            <Modal.Footer>
                <Button
                    kind={settled ? 'primary' : 'tertiary'}
                    onClick={close}
                >
                    <FormattedMessage {...(settled ? messages.done : said.cancel)}/>
                </Button>
            </Modal.Footer>
        </>
    );
}

/** Where the folder is to be seen at the host; undefined while that is not known, or where the host has no pages. */
function useFolderAddress(client: Client, {path, id}: Folder, wanted: boolean): string | undefined {
    const [address, setAddress] = useState<string>();
    useEffect(() => {
        if (!wanted) {
            return undefined;
        }
        const request = new AbortController();
        client.list({view: 'folder', path, id, words: '', types: ['folder'], sort: 'name', order: 'asc', limit: 1}, request.signal).then(
            ({folder}) => {
                if (!request.signal.aborted) {
                    setAddress(webAddress(folder?.web_url));
                }
            },
            () => {
                // The files are there all the same.
            },
        );
        return () => {
            request.abort();
        };
    }, [client, path, id, wanted]);
    return address;
}

/** After these the file may be there although there was no answer. */
const unanswered = ['offline', 'unreadable', 'timeout', 'internal', 'host_unavailable'];

function JobItem({job: {file, state, entry, problem}, onRetry}: {job: Job; onRetry: (file: FileInfo) => void}): ReactElement {
    const intl = useIntl();
    return (
        <li className={`is-${state}`}>
            <span className='filehost-attach__texts'>
                <bdi title={file.name}>{file.name}</bdi>
                <span className='filehost-attach__reason'>
                    {state === 'waiting' && <FormattedMessage {...words.stateWaiting}/>}
                    {state === 'saving' && <FormattedMessage {...said.saving}/>}
                    {entry && (
                        <FormattedMessage
                            {...said.saved}
                            values={{name: <bdi>{entry.name}</bdi>}}
                        />
                    )}
                </span>
                {state === 'saving' && (
                    <span
                        className='filehost-attach__bar'
                        role='progressbar'
                        aria-label={file.name}
                    />
                )}
                <Problem problem={problem}/>
                {problem && unanswered.includes(problem.code) && (
                    <span className='filehost-attach__reason'>
                        <FormattedMessage {...said.maybeSaved}/>
                    </span>
                )}
            </span>
            {state === 'done' && <Icon name='check'/>}
            {state === 'failed' && (
                <button
                    type='button'
                    className='filehost-attach__square'
                    aria-label={intl.formatMessage(words.retryFile, {name: file.name})}
                    onClick={() => {
                        onRetry(file);
                    }}
                >
                    <Icon name='retry'/>
                </button>
            )}
        </li>
    );
}
