import React, {type MouseEvent, type ReactElement} from 'react';
import {useIntl, type MessageDescriptor} from 'react-intl';

import type {Client} from '../client';
import type {Entry, Limits} from '../types';
import {Icon} from './icons';
import {sizeText} from './measures';
import type {Unfit} from './selection';
import {Thumbnail} from './Thumbnail';
import {words} from './words';

/** What a row and a tile show. */
export type ItemProps = {
    id: string;
    client: Client;
    entry: Entry;
    limits: Limits;
    thumbnails: boolean;

    /** Where it is among all, from 0 on. */
    index: number;
    current: boolean;
    chosen: boolean;
    unfit: Unfit | undefined;
    onClick: (event: MouseEvent) => void;
};

/** Why a file can't be chosen. */
export const reasons: Record<Exclude<Unfit, 'folder'>, MessageDescriptor> = {
    unreadable: words.sizeUnknown,
    empty: words.emptyFile,
    large: words.large,
};

/** What an item is like for a screen reader and for the styles. */
function stateOf({current, chosen, unfit}: ItemProps) {
    const isFolder = unfit === 'folder';
    return {
        className: ['filehost-attach__item', current && 'is-current', chosen && 'is-chosen', unfit && !isFolder && 'is-unfit'].filter(Boolean).join(' '),
        'aria-selected': isFolder || unfit ? undefined : chosen,
        'aria-disabled': unfit && !isFolder ? true : undefined,
    };
}

function Tick({unfit}: {unfit: Unfit | undefined}): ReactElement {
    return (
        <span
            className={`filehost-attach__tick${unfit ? ' is-hidden' : ''}`}
            aria-hidden='true'
        >
            <Icon
                name='check'
                size={14}
            />
        </span>
    );
}

/** Why an item can't be chosen, or how large it is. */
function useDetails({entry, limits, unfit}: ItemProps): {size: string; reason: string | undefined; modified: string} {
    const intl = useIntl();
    return {
        size: unfit === 'folder' ? '' : sizeText(intl, entry.size),
        reason: unfit && unfit !== 'folder' ? intl.formatMessage(reasons[unfit], {size: sizeText(intl, limits.file_size)}) : undefined,
        modified: entry.modified_at === null ? '' : intl.formatDate(entry.modified_at, {dateStyle: 'medium'}),
    };
}

/** An entry as a row of the list. */
export function Row(props: ItemProps & {top: number}): ReactElement {
    const {id, client, entry, thumbnails, index, unfit, onClick, top} = props;
    const {size, reason, modified} = useDetails(props);
    const {className, ...state} = stateOf(props);
    return (
        <div
            {...state}
            className={`${className} filehost-attach__row`}
            role='row'
            id={id}
            aria-rowindex={index + 2}
            style={{transform: `translateY(${top}px)`}}
            onClick={onClick}
        >
            <span
                className='filehost-attach__name'
                role='gridcell'
            >
                <Tick unfit={unfit}/>
                <Thumbnail
                    client={client}
                    entry={entry}
                    size={32}
                    available={thumbnails}
                />
                <span className='filehost-attach__texts'>
                    <bdi title={entry.name}>{entry.name}</bdi>
                    {reason ? <span className='filehost-attach__reason'>{reason}</span> : (
                        <span
                            className='filehost-attach__narrow'
                            aria-hidden='true'
                        >
                            {[size, modified].filter(Boolean).join(' · ')}
                        </span>
                    )}
                </span>
            </span>
            <span
                className='filehost-attach__modified'
                role='gridcell'
            >
                <bdi>{modified}</bdi>
            </span>
            <span
                className='filehost-attach__size'
                role='gridcell'
            >
                <bdi>{size}</bdi>
            </span>
        </div>
    );
}

/** An entry as a tile. */
export function Tile(props: ItemProps & {column: number}): ReactElement {
    const {id, client, entry, thumbnails, unfit, onClick, column} = props;
    const {size, reason} = useDetails(props);
    const {className, ...state} = stateOf(props);
    return (
        <div
            {...state}
            className={`${className} filehost-attach__tile`}
            role='gridcell'
            id={id}
            aria-colindex={column + 1}
            onClick={onClick}
        >
            <span className='filehost-attach__picture'>
                <Tick unfit={unfit}/>
                <Thumbnail
                    client={client}
                    entry={entry}
                    size={104}
                    available={thumbnails}
                />
            </span>
            <bdi title={entry.name}>{entry.name}</bdi>
            <span className='filehost-attach__reason'><bdi>{reason ?? size}</bdi></span>
        </div>
    );
}
