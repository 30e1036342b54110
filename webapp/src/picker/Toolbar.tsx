import React, {useEffect, useRef, useState, type ReactElement, type RefObject} from 'react';
import {FormattedMessage, useIntl, type MessageDescriptor} from 'react-intl';

import type {Capabilities, ListingView, Order, Sort} from '../types';
import {Icon, type IconName} from './icons';
import {arrangementOf, crumbs, home, type Arrangement, type Kind, type Place} from './place';
import {words} from './words';

/** For how long nothing must be typed before it is searched for, in milliseconds. */
const pause = 300;

type SearchProps = {
    place: Place;
    host: string;
    field: RefObject<HTMLInputElement>;
    onSearch: (words: string) => void;

    /** The user wants to go on in the list. */
    onLeave: () => void;
};

/** The field for a search below the current folder. */
export function Search({place, host, field, onSearch, onLeave}: SearchProps): ReactElement {
    const intl = useIntl();
    const [text, setText] = useState(place.words);
    const wanted = useRef(place.words);

    // Another place was gone to: what was typed is over.
    useEffect(() => {
        if (place.words !== wanted.current) {
            wanted.current = place.words;
            setText(place.words);
        }
    }, [place]);

    useEffect(() => {
        if (text.trim() === wanted.current) {
            return undefined;
        }
        const timer = window.setTimeout(() => {
            wanted.current = text.trim();
            onSearch(wanted.current);
        }, pause);
        return () => {
            window.clearTimeout(timer);
        };
    }, [text, onSearch]);

    const clear = () => {
        wanted.current = '';
        setText('');
        onSearch('');
    };
    return (
        <>
            <Icon
                name='search'
                size={18}
            />
            <input
                ref={field}
                type='search'
                className='form-control'
                value={text}
                maxLength={255}
                autoComplete='off'
                aria-label={intl.formatMessage(words.search)}
                placeholder={intl.formatMessage(words.searchIn, {name: crumbs(place).at(-1)?.name ?? host})}
                onChange={(event) => {
                    setText(event.target.value);
                }}
                onKeyDown={(event) => {
                    if (event.key === 'Escape' && text !== '') {
                        event.preventDefault();
                        clear();
                    } else if (event.key === 'ArrowDown' || event.key === 'Enter') {
                        event.preventDefault();
                        onLeave();
                    }
                }}
            />
        </>
    );
}

type ViewsProps = {place: Place; capabilities: Capabilities | undefined; onGo: (place: Place) => void};

const views: [ListingView, MessageDescriptor, IconName][] = [
    ['folder', words.allFiles, 'folderOpen'],
    ['recent', words.recent, 'clock'],
    ['favorites', words.favorites, 'star'],
    ['shared', words.shared, 'people'],
];

/** What a view is called. */
export function viewName(view: ListingView): MessageDescriptor {
    return views.find(([other]) => other === view)?.[1] ?? words.allFiles;
}

/** Leads to the views that the host has for this user. */
export function Views({place, capabilities, onGo}: ViewsProps): ReactElement | null {
    const intl = useIntl();
    const offered = views.filter(([view]) => view === 'folder' || capabilities?.[view]);
    if (offered.length === 1 && place.view === 'folder') {
        return null;
    }
    return (
        <nav
            className='filehost-attach__views'
            aria-label={intl.formatMessage(words.views)}
        >
            {offered.map(([view, name, icon]) => (
                <button
                    key={view}
                    type='button'
                    aria-current={place.view === view ? 'true' : undefined}
                    onClick={() => {
                        onGo({...home, view});
                    }}
                >
                    <Icon
                        name={icon}
                        size={16}
                    />
                    <FormattedMessage {...name}/>
                </button>
            ))}
        </nav>
    );
}

/** The way from the top folder to this one; each folder leads there. */
export function Crumbs({place, host, onGo}: {place: Place; host: string; onGo: (place: Place) => void}): ReactElement {
    const intl = useIntl();
    const trail = crumbs(place);
    return (
        <nav
            className='filehost-attach__crumbs'
            aria-label={intl.formatMessage(words.folders)}
        >
            <ol>
                {trail.map(({place: target, name = host}, index) => (
                    <li key={index}>
                        {index < trail.length - 1 || place.words !== '' ? (
                            <button
                                type='button'
                                onClick={() => {
                                    onGo(target);
                                }}
                            >
                                <bdi>{name}</bdi>
                            </button>
                        ) : <bdi aria-current='location'>{name}</bdi>}
                    </li>
                ))}
            </ol>
        </nav>
    );
}

const kinds: [Kind, MessageDescriptor][] = [
    ['all', words.kindAll],
    ['images', words.images],
    ['documents', words.documents],
    ['audio', words.audioFiles],
    ['video', words.videos],
];

type ChoicesProps = {
    place: Place;
    arrangement: Arrangement;
    tiles: boolean;
    onArrange: (arrangement: Arrangement) => void;
    onTiles: (tiles: boolean) => void;
};

/** What is shown, and how. */
export function Choices({place, arrangement, tiles, onArrange, onTiles}: ChoicesProps): ReactElement {
    const intl = useIntl();
    return (
        <span className='filehost-attach__choices'>
            <select
                className='form-control'
                aria-label={intl.formatMessage(words.kind)}
                value={arrangement.kind}
                onChange={(event) => {
                    onArrange({...arrangement, kind: event.target.value as Kind});
                }}
            >
                {kinds.map(([kind, name]) => (
                    <option
                        key={kind}
                        value={kind}
                    >
                        {intl.formatMessage(name)}
                    </option>
                ))}
            </select>
            {place.view !== 'recent' && (
                <OrderChoice
                    arrangement={arrangementOf(place, arrangement)}
                    always={tiles}
                    onArrange={onArrange}
                />
            )}
            <button
                type='button'
                className='filehost-attach__square'
                aria-label={intl.formatMessage(tiles ? words.listView : words.tileView)}
                title={intl.formatMessage(tiles ? words.listView : words.tileView)}
                onClick={() => {
                    onTiles(!tiles);
                }}
            >
                <Icon name={tiles ? 'list' : 'tiles'}/>
            </button>
        </span>
    );
}

const orders: [Sort, Order, MessageDescriptor][] = [
    ['name', 'asc', words.byName],
    ['name', 'desc', words.byName],
    ['modified', 'asc', words.byModified],
    ['modified', 'desc', words.byModified],
    ['size', 'asc', words.bySize],
    ['size', 'desc', words.bySize],
];

/** The order where there are no columns to set it with: of tiles, and on a narrow screen. */
function OrderChoice({arrangement, always, onArrange}: {arrangement: Arrangement; always: boolean; onArrange: (arrangement: Arrangement) => void}): ReactElement {
    const intl = useIntl();
    return (
        <select
            className={`form-control${always ? '' : ' filehost-attach__narrow'}`}
            aria-label={intl.formatMessage(words.sortBy)}
            value={`${arrangement.sort} ${arrangement.order}`}
            onChange={(event) => {
                const [sort, order] = event.target.value.split(' ') as [Sort, Order];
                onArrange({...arrangement, sort, order});
            }}
        >
            {orders.map(([sort, order, name]) => (
                <option
                    key={`${sort} ${order}`}
                    value={`${sort} ${order}`}
                >
                    {order === 'asc' ? intl.formatMessage(name) : intl.formatMessage(words.sortedDown, {by: intl.formatMessage(name)})}
                </option>
            ))}
        </select>
    );
}
