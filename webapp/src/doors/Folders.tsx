import React, {useEffect, useLayoutEffect, useRef, useState, type ReactElement} from 'react';
import {FormattedMessage, useIntl} from 'react-intl';

import {asApiError, type ApiError, type Client} from '../client';
import {messages} from '../picker/connectWords';
import {FileGrid} from '../picker/FileGrid';
import {wantsMore} from '../picker/listing';
import {Button, Problem, Spoken} from '../picker/parts';
import {above, home, inside, usual, type Arrangement, type Place} from '../picker/place';
import {ListingFailed, Skeleton} from '../picker/States';
import {Crumbs} from '../picker/Toolbar';
import {useListing} from '../picker/useListing';
import {words} from '../picker/words';
import type {Limits} from '../types';
import {makeFolder} from './calls';
import {words as said} from './words';

type Props = {
    client: Client;
    host: string;
    place: Place;
    onGo: (place: Place) => void;

    /** The host wants the user to connect. */
    onDisconnected: () => void;
};

/** Only folders are listed. */
const arrangement: Arrangement = {...usual, kind: 'folders'};

/** Nothing is chosen but the folder that is shown. */
const noLimits: Limits = {files: 0, file_size: 0, total_size: 0};

const nothing = () => undefined;

/** Leads through the folders of the host. */
export function Folders({client, host, place, onGo, onDisconnected}: Props): ReactElement {
    const intl = useIntl();
    const [listing, {more, retry}] = useListing(client, place, arrangement, onDisconnected);
    const [cameFrom, setCameFrom] = useState<string>();
    const stage = useRef<HTMLDivElement>(null);
    const listed = listing.status !== 'loading' && listing.status !== 'failed';

    useLayoutEffect(() => {
        if (stage.current && document.activeElement === stage.current) {
            stage.current.querySelector<HTMLElement>('[role="grid"]')?.focus();
        }
    }, [listed, listing.entries]);
    useEffect(() => {
        stage.current?.focus();
    }, []);
    const go = (to: Place) => {
        stage.current?.focus();
        setCameFrom(place.path);
        onGo(to);
    };
    const up = () => {
        const to = above(place);
        if (to) {
            go(to);
        }
    };
    return (
        <>
            <Spoken>
                {listed ? (
                    <FormattedMessage
                        {...words.entries}
                        values={{count: listing.total ?? listing.entries.length}}
                    />
                ) : <FormattedMessage {...messages.loading}/>}
            </Spoken>
            <div className='filehost-attach__toolbar'>
                <Crumbs
                    place={place}
                    host={host}
                    onGo={go}
                />
                <NewFolder
                    place={place}
                    onMade={go}
                />
            </div>
            <div
                ref={stage}
                className='filehost-attach__stage'
                tabIndex={-1}
                aria-busy={!listed}
                onKeyDown={(event) => {
                    if (event.target === event.currentTarget && event.key === 'Backspace') {
                        up();
                    }
                }}
            >
                {listing.status === 'loading' && <Skeleton tiles={false}/>}
                {listing.status === 'failed' && listing.problem && (
                    <ListingFailed
                        problem={listing.problem}
                        host={host}
                        retry={retry}
                        toTop={() => {
                            go(home);
                        }}
                    />
                )}
                {listed && listing.entries.length === 0 && (
                    <p className='filehost-attach__rest'>
                        <FormattedMessage {...said.noFolders}/>
                    </p>
                )}
                {listed && listing.entries.length > 0 && (
                    <FileGrid
                        client={client}
                        entries={listing.entries}
                        total={listing.total}
                        label={place.path === '/' ? host : intl.formatMessage(words.place, {name: place.name ?? place.path, host})}
                        limits={noLimits}
                        selection={[]}
                        tiles={false}
                        thumbnails={false}
                        startAt={cameFrom}
                        order={undefined}
                        onSort={nothing}
                        onToggle={nothing}
                        onChoose={nothing}
                        onOpen={(entry) => {
                            go(inside(entry));
                        }}
                        onAttach={nothing}
                        onUp={up}
                        onSearch={nothing}
                        onReached={(index) => {
                            if (wantsMore(listing, index)) {
                                more();
                            }
                        }}
                    />
                )}
            </div>
        </>
    );
}

/** Makes a folder in the one that is shown, and goes into it. */
function NewFolder({place, onMade}: {place: Place; onMade: (place: Place) => void}): ReactElement {
    const intl = useIntl();
    const [name, setName] = useState<string>();
    const [busy, setBusy] = useState(false);
    const [problem, setProblem] = useState<ApiError>();
    const request = useRef<AbortController | null>(null);
    useEffect(() => () => {
        request.current?.abort();
    }, []);

    const leave = () => {
        setName(undefined);
        setProblem(undefined);
    };
    const make = (wanted: string) => {
        const own = new AbortController();
        request.current = own;
        setBusy(true);
        makeFolder(place, wanted, own.signal).then(
            (made) => {
                if (!own.signal.aborted) {
                    leave();
                    setBusy(false);
                    onMade(inside(made));
                }
            },
            (error: unknown) => {
                if (!own.signal.aborted) {
                    setBusy(false);
                    setProblem(asApiError(error));
                }
            },
        );
    };
    if (name === undefined) {
        return (
            <Button
                kind='tertiary'
                onClick={() => {
                    setName('');
                }}
            >
                <FormattedMessage {...said.newFolder}/>
            </Button>
        );
    }
    return (
        <form
            className='filehost-attach__new-folder'
            onSubmit={(event) => {
                event.preventDefault();
                if (!busy && name.trim() !== '') {
                    make(name.trim());
                }
            }}
        >
            <Problem problem={problem}/>
            <input
                className='form-control'
                value={name}
                required={true}
                maxLength={255}
                autoComplete='off'
                autoFocus={true}
                aria-label={intl.formatMessage(said.folderName)}
                placeholder={intl.formatMessage(said.folderName)}
                onChange={(event) => {
                    setName(event.target.value);
                }}
                onKeyDown={(event) => {
                    if (event.key === 'Escape') {
                        event.preventDefault();
                        leave();
                    }
                }}
            />
            <Button
                kind='primary'
                busy={busy}
            >
                <FormattedMessage {...said.make}/>
            </Button>
        </form>
    );
}
