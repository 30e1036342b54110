import React, {useCallback, useEffect, useLayoutEffect, useRef, useState, type ReactElement} from 'react';
import {Modal} from 'react-bootstrap';
import {FormattedMessage, useIntl} from 'react-intl';

import type {Entry, Limits} from '../types';
import {messages} from './connectWords';
import {FileGrid} from './FileGrid';
import {Icon} from './icons';
import {wantsMore, type Listing} from './listing';
import {sizeText} from './measures';
import {recall, remember} from './memory';
import {Button, Notice, Spoken} from './parts';
import type {PickerProps} from './Picker';
import {above, arrangementOf, crumbs, home, inside, type Place} from './place';
import {reasons} from './Rows';
import {add, has, sizeOf, toggle, unfit, type Choice, type Room, type Selection} from './selection';
import {Empty, ListingFailed, Skeleton} from './States';
import {Choices, Crumbs, Search, viewName, Views} from './Toolbar';
import {useListing} from './useListing';
import {words} from './words';

type Props = PickerProps & {

    /** There is no message that files could go into. */
    lost: boolean;
    onAttach: (selection: Selection) => void;
};

/** Of a server that does not tell: what any Mattermost takes. */
const usualLimits: Limits = {files: 10, file_size: Number.MAX_SAFE_INTEGER, total_size: Number.MAX_SAFE_INTEGER};

/** Shows the files of the host, and which of them are chosen. */
export function Browser({client, connection, composer, user, selection, onSelection, lost, onDisconnected, onAccount, onAttach, close}: Props): ReactElement {
    const {host, limits = usualLimits} = connection;
    const intl = useIntl();
    const [memory, setMemory] = useState(() => recall(user, host.id));
    const [wantsReview, setReviewing] = useState(false);
    const reviewing = wantsReview && selection.length > 0;
    const [cameFrom, setCameFrom] = useState<string>();
    const [notice, setNotice] = useState({text: '', warning: false});
    const stage = useRef<HTMLDivElement>(null);
    const field = useRef<HTMLInputElement>(null);
    const {place, arrangement, tiles} = memory;
    const [listing, {more, retry}] = useListing(client, place, arrangement, onDisconnected);
    const room: Room = {...limits, taken: composer.taken(), together: !composer.takesFiles()};
    const listed = listing.status !== 'loading' && listing.status !== 'failed';

    useEffect(() => {
        remember(user, host.id, memory);
    }, [user, host.id, memory]);

    // The focus waits on the stage while there is no list: FileGrid leaves it there.
    const toStage = useCallback(() => {
        (stage.current?.querySelector<HTMLElement>('[role="grid"]') ?? stage.current)?.focus();
    }, []);
    useEffect(toStage, [toStage]);
    useLayoutEffect(() => {
        if (stage.current && document.activeElement === stage.current) {
            stage.current.querySelector<HTMLElement>('[role="grid"]')?.focus();
        }
    });

    const go = (to: Place) => {
        setCameFrom(place.path);
        setReviewing(false);
        setNotice({text: '', warning: false});
        setMemory({...memory, place: to});
    };
    const search = useCallback((text: string) => {
        setReviewing(false);
        setMemory((before) => ({...before, place: {...before.place, view: 'folder', words: text}}));
    }, []);
    const goAndFocus = (to: Place) => {
        toStage();
        go(to);
    };
    const up = () => {
        const to = above(place);
        if (to) {
            goAndFocus(to);
        }
    };

    const numbers = (chosen: Selection) => ({count: chosen.length, most: room.files - room.taken, size: sizeText(intl, sizeOf(chosen))});
    const choose = ({selection: chosen, full}: Choice, entry?: Entry) => {
        onSelection(chosen);
        const most = {most: room.files - room.taken, size: sizeText(intl, room.total_size)};
        if (full) {
            setNotice({text: intl.formatMessage(full === 'files' ? words.full : words.fullTotal, most), warning: true});
        } else if (entry && has(chosen, entry)) {
            setNotice({text: intl.formatMessage(words.chosenFile, {name: entry.name, ...numbers(chosen)}), warning: false});
        } else {
            setNotice({text: intl.formatMessage(words.chosen, numbers(chosen)), warning: false});
        }
    };
    const onToggle = (entry: Entry) => {
        const reason = unfit(entry, limits);
        if (reason && reason !== 'folder') {
            setNotice({text: intl.formatMessage(reasons[reason], {size: sizeText(intl, limits.file_size)}), warning: false});
        } else {
            choose(toggle(selection, entry, room), entry);
        }
    };
    const onOpen = (entry: Entry) => {
        if (entry.kind === 'folder') {
            goAndFocus(inside(entry));
            return;
        }
        const choice = add(selection, [entry], room);
        choose(choice, entry);
        if (has(choice.selection, entry)) {
            onAttach(choice.selection);
        }
    };
    const onReached = useReached(listing, more);
    const order = place.view === 'recent' || reviewing ? undefined : arrangementOf(place, arrangement);

    return (
        <>
            <Modal.Body>
                <Spoken>
                    {notice.text || (listed ? (
                        <FormattedMessage
                            {...(place.words === '' ? words.entries : words.found)}
                            values={{count: listing.total ?? listing.entries.length}}
                        />
                    ) : <FormattedMessage {...messages.loading}/>)}
                </Spoken>
                {lost && (
                    <Notice>
                        <FormattedMessage {...words.noTarget}/>
                    </Notice>
                )}
                <div className='filehost-attach__toolbar'>
                    <span className='filehost-attach__search'>
                        {listing.capabilities?.search && (
                            <Search
                                place={place}
                                host={host.name}
                                field={field}
                                onSearch={search}
                                onLeave={toStage}
                            />
                        )}
                    </span>
                    <Choices
                        place={place}
                        arrangement={arrangement}
                        tiles={tiles}
                        onArrange={(to) => {
                            setMemory({...memory, arrangement: to});
                        }}
                        onTiles={(to) => {
                            setMemory({...memory, tiles: to});
                        }}
                    />
                    <button
                        type='button'
                        className='filehost-attach__square'
                        aria-label={intl.formatMessage(words.account, {host: host.name})}
                        title={intl.formatMessage(words.account, {host: host.name})}
                        onClick={onAccount}
                    >
                        <Icon name='account'/>
                    </button>
                </div>
                <Views
                    place={place}
                    capabilities={listing.capabilities}
                    onGo={go}
                />
                {reviewing && (
                    <p className='filehost-attach__reviewed'>
                        <FormattedMessage {...words.chosenFiles}/>
                    </p>
                )}
                {place.view === 'folder' && !reviewing && (
                    <Crumbs
                        place={place}
                        host={host.name}
                        onGo={goAndFocus}
                    />
                )}
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
                    {listing.status === 'loading' && !reviewing && <Skeleton tiles={tiles}/>}
                    {listing.status === 'failed' && listing.problem && !reviewing && (
                        <ListingFailed
                            problem={listing.problem}
                            host={host.name}
                            retry={() => {
                                toStage();
                                retry();
                            }}
                            toTop={() => {
                                goAndFocus(home);
                            }}
                        />
                    )}
                    {listed && !reviewing && listing.entries.length === 0 && (
                        <Empty
                            place={place}
                            arrangement={arrangement}
                            host={host.name}
                        />
                    )}
                    {(reviewing || (listed && listing.entries.length > 0)) && (
                        <FileGrid
                            key={reviewing ? 'chosen' : 'listed'}
                            client={client}
                            entries={reviewing ? selection : listing.entries}
                            total={reviewing ? selection.length : listing.total}
                            label={reviewing ? intl.formatMessage(words.chosenFiles) : labelOf(intl, place, host.name)}
                            limits={limits}
                            selection={selection}
                            tiles={tiles}
                            thumbnails={listing.capabilities?.thumbnails ?? false}
                            startAt={cameFrom}
                            order={order}
                            onSort={(sort) => {
                                const turned = arrangement.sort === sort && arrangement.order === 'asc' ? 'desc' : 'asc';
                                setMemory({...memory, arrangement: {...arrangement, sort, order: turned}});
                            }}
                            onToggle={onToggle}
                            onChoose={(entries) => {
                                choose(add(selection, entries, room));
                            }}
                            onOpen={onOpen}
                            onAttach={() => {
                                onAttach(selection);
                            }}
                            onUp={up}
                            onSearch={() => {
                                field.current?.focus();
                            }}
                            onReached={onReached}
                        >
                            {!reviewing && (
                                <Rest
                                    listing={listing}
                                    retry={more}
                                />
                            )}
                        </FileGrid>
                    )}
                </div>
            </Modal.Body>
            <Modal.Footer>
                <div className='filehost-attach__aside filehost-attach__summary'>
                    {notice.warning && <span className='filehost-attach__warning'>{notice.text}</span>}
                    {selection.length === 0 && !notice.warning && (
                        <FormattedMessage
                            {...words.limits}
                            values={{most: room.files - room.taken, size: sizeText(intl, limits.file_size)}}
                        />
                    )}
                    {selection.length > 0 && (
                        <>
                            <button
                                type='button'
                                aria-pressed={reviewing}
                                title={intl.formatMessage(words.chosenFiles)}
                                onClick={() => {
                                    setReviewing(!reviewing);
                                }}
                            >
                                <FormattedMessage
                                    {...words.chosen}
                                    values={numbers(selection)}
                                />
                            </button>
                            <button
                                type='button'
                                onClick={() => {
                                    setReviewing(false);
                                    toStage();
                                    choose({selection: []});
                                }}
                            >
                                <FormattedMessage {...words.clear}/>
                            </button>
                        </>
                    )}
                </div>
                <Button
                    kind='tertiary'
                    onClick={close}
                >
                    <FormattedMessage {...words.cancel}/>
                </Button>
                <Button
                    kind='primary'
                    disabled={selection.length === 0}
                    onClick={() => {
                        onAttach(selection);
                    }}
                >
                    <FormattedMessage
                        {...words.attach}
                        values={{count: selection.length}}
                    />
                </Button>
            </Modal.Footer>
        </>
    );
}

/** Asks for the next page when the end of what there is comes into sight. */
function useReached(listing: Listing, more: () => void): (index: number) => void {
    const latest = useRef({listing, more});
    useLayoutEffect(() => {
        latest.current = {listing, more};
    });
    const reached = useRef(0);
    const asked = useRef<Listing>();
    const check = useCallback((index: number) => {
        reached.current = index;
        if (wantsMore(latest.current.listing, index) && asked.current !== latest.current.listing) {
            asked.current = latest.current.listing;
            latest.current.more();
        }
    }, []);

    // A page may be shorter than the screen.
    useEffect(() => {
        check(reached.current);
    }, [check, listing.entries]);
    return check;
}

/** What comes after the last entry that there is. */
function Rest({listing: {status, truncated, problem}, retry}: {listing: Listing; retry: () => void}): ReactElement | null {
    if (status === 'more') {
        return (
            <p className='filehost-attach__rest'>
                <FormattedMessage {...words.loadingMore}/>
            </p>
        );
    }
    if (status === 'stuck') {
        return (
            <p className='filehost-attach__rest'>
                {problem?.code === 'offline' ? <FormattedMessage {...messages.offline}/> : problem?.message}
                <Button
                    kind='link'
                    onClick={retry}
                >
                    <FormattedMessage {...messages.tryAgain}/>
                </Button>
            </p>
        );
    }
    return truncated ? (
        <p className='filehost-attach__rest'>
            <FormattedMessage {...words.narrower}/>
        </p>
    ) : null;
}

/** What the list is called by a screen reader. */
function labelOf(intl: ReturnType<typeof useIntl>, place: Place, host: string): string {
    if (place.words !== '') {
        return intl.formatMessage(words.searching, {words: place.words});
    }
    const name = place.view === 'folder' ? crumbs(place).at(-1)?.name : intl.formatMessage(viewName(place.view));
    return name === undefined ? host : intl.formatMessage(words.place, {name, host});
}
