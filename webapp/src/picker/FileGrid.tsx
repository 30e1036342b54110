import {defaultRangeExtractor, useVirtualizer} from '@tanstack/react-virtual';
import React, {useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactElement, type ReactNode, type RefObject} from 'react';
import {FormattedMessage, useIntl, type MessageDescriptor} from 'react-intl';

import type {Client} from '../client';
import type {Entry, Limits, Order, Sort} from '../types';
import {Icon} from './icons';
import {findByName, wishOf, type Wish} from './keys';
import {Row, Tile, type ItemProps} from './Rows';
import {has, unfit, type Selection} from './selection';
import {words} from './words';

/** The height of a row and of a tile with the space around it, in CSS pixels. */
const heights = {row: 48, tile: 176};

/** The least width of a tile with the space around it. */
const tileWidth = 144;

/** For how long letters belong to one word, in milliseconds. */
const typing = 700;

const idOf = (index: number) => `filehost-attach-entry-${index}`;

type Props = {
    client: Client;
    entries: readonly Entry[];

    /** How many there are when all pages are here; undefined = not known. */
    total: number | undefined;
    label: string;
    limits: Limits;
    selection: Selection;
    tiles: boolean;
    thumbnails: boolean;

    /** The path of the entry that is current at first; undefined = the first. */
    startAt: string | undefined;

    /** What the entries are ordered by; undefined = an order that the user can't change. */
    order: {sort: Sort; order: Order} | undefined;
    onSort: (sort: Sort) => void;
    onToggle: (entry: Entry) => void;
    onChoose: (entries: readonly Entry[]) => void;
    onOpen: (entry: Entry) => void;
    onAttach: () => void;
    onUp: () => void;
    onSearch: () => void;

    /** The last entry that can be seen. */
    onReached: (index: number) => void;

    /** Comes after the last entry. */
    children?: ReactNode;
};

/**
 * Entries as a list or as tiles, of which only those exist that can be seen. One stop for the Tab key; inside, the
 * arrows move a current entry (the grid pattern of the ARIA Authoring Practices, with aria-activedescendant).
 */
export function FileGrid(props: Props): ReactElement {
    const {entries, total, label, selection, tiles, startAt, children, onReached} = props;
    const scroller = useRef<HTMLDivElement>(null);
    const rowsGroup = useRef<HTMLDivElement>(null);
    const {columns, margin} = useMeasures(scroller, rowsGroup, tiles);
    const [at, setAt] = useState(() => Math.max(0, entries.findIndex(({path}) => path === startAt)));
    const current = Math.min(at, entries.length - 1);
    const rowHeight = tiles ? heights.tile : heights.row;
    const currentRow = Math.floor(current / columns);

    // eslint-disable-next-line react-hooks/incompatible-library -- nothing here is memoised
    const virtualizer = useVirtualizer({
        count: Math.ceil(entries.length / columns),
        getScrollElement: () => scroller.current,
        estimateSize: () => rowHeight,
        overscan: 6,

        // The names of the columns are above the rows, and stay there.
        scrollMargin: margin,
        scrollPaddingStart: margin,

        // The current row exists also when it can't be seen: it is what a screen reader is at.
        rangeExtractor: (range) => [...new Set([currentRow, ...defaultRangeExtractor(range)])].filter((row) => row < range.count).sort((a, b) => a - b),
    });
    useLayoutEffect(() => {
        virtualizer.measure();
    }, [virtualizer, rowHeight, columns, margin]);

    const rows = virtualizer.getVirtualItems();
    const lastInSight = ((rows.at(-1)?.index ?? 0) + 1) * columns - 1;
    useEffect(() => {
        onReached(lastInSight);
    }, [onReached, lastInSight]);
    useEffect(() => {
        virtualizer.scrollToIndex(currentRow);
    }, [virtualizer, currentRow]);

    // Who was in the list that goes is in the one that comes, and not at the start of the page.
    useLayoutEffect(() => {
        const {current: element} = scroller;
        return () => {
            if (element?.contains(document.activeElement)) {
                element.parentElement?.focus();
            }
        };
    }, []);

    const {onKeyDown, onClickOf} = useKeys(props, {at: current, setAt, columns, scroller, rowHeight});
    const item = (index: number, entry: Entry): ItemProps => ({
        id: idOf(index),
        client: props.client,
        entry,
        limits: props.limits,
        thumbnails: props.thumbnails,
        index,
        current: index === current,
        chosen: has(selection, entry),
        unfit: unfit(entry, props.limits),
        onClick: onClickOf(index),
    });

    return (
        <div
            ref={scroller}
            className={`filehost-attach__grid${tiles ? ' filehost-attach__grid--tiles' : ''}`}
            role='grid'
            tabIndex={0}
            aria-label={label}
            aria-multiselectable={true}
            aria-rowcount={total === undefined ? -1 : Math.ceil(total / columns) + (tiles ? 0 : 1)}
            aria-colcount={tiles ? columns : 3}
            aria-activedescendant={current < 0 ? undefined : idOf(current)}
            onKeyDown={onKeyDown}
        >
            {!tiles && <Headers {...props}/>}
            <div
                ref={rowsGroup}
                className='filehost-attach__rows'
                role='rowgroup'
                style={{height: virtualizer.getTotalSize()}}
            >
                {rows.map(({index: row, start}) => {
                    const inRow = entries.slice(row * columns, (row + 1) * columns);
                    if (!tiles) {
                        return inRow.map((entry) => (
                            <Row
                                key={entry.id}
                                {...item(row, entry)}
                                top={start - margin}
                            />
                        ));
                    }
                    return (
                        <div
                            key={row}
                            className='filehost-attach__tiles'
                            role='row'
                            aria-rowindex={row + 1}
                            style={{transform: `translateY(${start - margin}px)`, gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`}}
                        >
                            {inRow.map((entry, column) => (
                                <Tile
                                    key={entry.id}
                                    {...item(row * columns + column, entry)}
                                    column={column}
                                />
                            ))}
                        </div>
                    );
                })}
            </div>
            {children}
        </div>
    );
}

/** How many tiles lie side by side, 1 in a list; and how much is above the first row, in CSS pixels. */
function useMeasures(scroller: RefObject<HTMLElement>, rows: RefObject<HTMLElement>, tiles: boolean): {columns: number; margin: number} {
    const [{width, margin}, setMeasures] = useState({width: 0, margin: 0});
    useLayoutEffect(() => {
        const element = scroller.current;
        if (!element) {
            return undefined;
        }
        const observer = new ResizeObserver(() => {
            setMeasures({width: element.clientWidth, margin: rows.current?.offsetTop ?? 0});
        });
        observer.observe(element);
        return () => {
            observer.disconnect();
        };
    }, [scroller, rows]);
    return tiles ? {columns: Math.max(1, Math.floor((width - 24) / tileWidth)), margin: 0} : {columns: 1, margin};
}

type Position = {at: number; setAt: (at: number) => void; columns: number; scroller: RefObject<HTMLElement>; rowHeight: number};

/** What keys and clicks do. */
function useKeys(props: Props, {at, setAt, columns, scroller, rowHeight}: Position) {
    const {entries, onToggle, onChoose, onOpen} = props;
    const {locale} = useIntl();

    // Where a range of entries began, and what was typed of a name.
    const anchor = useRef<number | undefined>(undefined);
    const typed = useRef({text: '', time: 0});

    const choose = (to: number) => {
        const from = anchor.current ?? at;
        anchor.current = from;
        onChoose(entries.slice(Math.min(from, to), Math.max(from, to) + 1));
    };
    const activate = (index: number) => {
        const entry = entries[index];
        if (entry) {
            anchor.current = index;
            if (entry.kind === 'folder') {
                onOpen(entry);
            } else {
                onToggle(entry);
            }
        }
    };
    const fulfil = (wish: Wish, time: number) => {
        switch (wish.type) {
        case 'go':
            if (wish.range) {
                choose(wish.to);
            } else {
                anchor.current = undefined;
            }
            setAt(wish.to);
            break;
        case 'toggle':
            activate(at);
            break;
        case 'open':
            if (entries[at]) {
                onOpen(entries[at]);
            }
            break;
        case 'all':
            onChoose(entries);
            break;
        case 'letter': {
            const {text, time: before} = typed.current;
            typed.current = {text: time - before < typing ? text + wish.letter : wish.letter, time};
            const found = findByName(entries.map(({name}) => name), at, typed.current.text, locale);
            if (found !== undefined) {
                setAt(found);
            }
            break;
        }
        case 'attach':
            props.onAttach();
            break;
        case 'up':
            props.onUp();
            break;
        case 'search':
            props.onSearch();
            break;
        }
    };

    return {
        onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
            if (event.target !== event.currentTarget || event.altKey) {
                return;
            }
            const {current: element} = scroller;
            const layout = {
                count: entries.length,
                columns,
                rows: Math.max(1, Math.floor((element?.clientHeight ?? 0) / rowHeight) - 1),
                mirrored: element !== null && getComputedStyle(element).direction === 'rtl',
            };
            const wish = wishOf({key: event.key, shift: event.shiftKey, command: event.ctrlKey || event.metaKey}, at, layout);
            if (wish) {
                event.preventDefault();
                fulfil(wish, event.timeStamp);
            }
        },
        onClickOf: (index: number) => (event: MouseEvent) => {
            setAt(index);
            if (event.shiftKey) {
                choose(index);
            } else {
                activate(index);
            }
        },
    };
}

const columnNames: [Sort, MessageDescriptor][] = [['name', words.byName], ['modified', words.byModified], ['size', words.bySize]];

/** The names of the columns, which set the order. */
function Headers({order, onSort}: Props): ReactElement {
    return (
        <div
            className='filehost-attach__headers'
            role='rowgroup'
        >
            <div
                role='row'
                aria-rowindex={1}
            >
                {columnNames.map(([sort, name]) => {
                    const sorted = order?.sort === sort ? order.order : undefined;
                    return (
                        <span
                            key={sort}
                            className={`filehost-attach__${sort}`}
                            role='columnheader'
                            aria-sort={sorted && (sorted === 'asc' ? 'ascending' : 'descending')}
                        >
                            {order ? (
                                <button
                                    type='button'
                                    onClick={() => {
                                        onSort(sort);
                                    }}
                                >
                                    <FormattedMessage {...name}/>
                                    {sorted && (
                                        <span className={sorted === 'desc' ? 'is-descending' : ''}>
                                            <Icon
                                                name='up'
                                                size={14}
                                            />
                                        </span>
                                    )}
                                </button>
                            ) : <FormattedMessage {...name}/>}
                        </span>
                    );
                })}
            </div>
        </div>
    );
}
