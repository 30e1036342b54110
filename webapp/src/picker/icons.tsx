import React, {type ReactElement} from 'react';

import type {Entry} from '../types';

/** Drawings of the buttons, each on a square of 24. */
const drawings = {
    account: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-8 9c0-4 3.6-6 8-6s8 2 8 6',
    cancel: 'M6 6l12 12M18 6 6 18',
    check: 'M4 12.5 9.5 18 20 6.5',
    clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Zm0-14v5l3.5 2',
    folderOpen: 'M3 18V6h6l2 2h8v3M3 18l3-7h16l-3 7H3Z',
    list: 'M4 6h16M4 12h16M4 18h16',
    people: 'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Zm-6.5 9c0-3.5 3-5 6.5-5s6.5 1.5 6.5 5M16 4.5a3.5 3.5 0 0 1 0 6M18 15.5c2.2.6 3.5 2.1 3.5 4.5',
    retry: 'M20 12a8 8 0 1 1-2.5-5.8L20 8.5M20 3v5.5h-5.5',
    search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Zm5-1.5L21 21',
    star: 'M12 3.5l2.6 5.4 5.9.8-4.3 4.1 1 5.9L12 16.9l-5.2 2.8 1-5.9L3.5 9.7l5.9-.800L12 3.5Z',
    tiles: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z',
    up: 'M12 20V5M5.5 11.5 12 5l6.5 6.5',
    warning: 'M12 3.5 22 20.5H2L12 3.5Zm0 6.5v5m0 2.5v.5',
};

/** The name of a drawing. */
export type IconName = keyof typeof drawings;

/** A drawing in the colour of the text around it; it says nothing to a screen reader. */
export function Icon({name, size = 20}: {name: IconName; size?: number}): ReactElement {
    return (
        <svg
            className='filehost-attach__icon'
            aria-hidden='true'
            focusable='false'
            width={size}
            height={size}
            viewBox='0 0 24 24'
            fill='none'
            stroke='currentColor'
            strokeWidth='1.8'
            strokeLinecap='round'
            strokeLinejoin='round'
        >
            <path d={drawings[name]}/>
        </svg>
    );
}

/** What a file is, as far as its picture tells. */
export type Shape = 'folder' | 'image' | 'video' | 'audio' | 'pdf' | 'text' | 'sheet' | 'slides' | 'archive' | 'other';

const shapes: [RegExp, Shape][] = [
    [/^image\//, 'image'],
    [/^video\//, 'video'],
    [/^audio\//, 'audio'],
    [/pdf$/, 'pdf'],
    [/spreadsheet|ms-excel|\/csv$/, 'sheet'],
    [/presentation|powerpoint/, 'slides'],
    [/zip|x-tar|compressed|x-7z|x-rar/, 'archive'],
    [/^text\/|wordprocessing|msword|opendocument\.text|rtf$|json$|xml$/, 'text'],
];

/** What an entry is, by its kind and MIME type. */
export function shapeOf({kind, mime_type: type}: Pick<Entry, 'kind' | 'mime_type'>): Shape {
    return kind === 'folder' ? 'folder' : shapes.find(([pattern]) => pattern.test(type))?.[1] ?? 'other';
}

/** What is drawn on the sheet of each shape. */
const marks: Record<Exclude<Shape, 'folder'>, string> = {
    image: 'M8 24l5-6 4 4 3-3 4 5zM11 15.5a1.5 1.5 0 1 0 0-.01',
    video: 'M12 14l9 5-9 5z',
    audio: 'M13 24v-9l7-2v9M13 24a2 2 0 1 1-.01-.5M20 22a2 2 0 1 1-.01-.5',
    pdf: 'M9 15h14M9 19h14M9 23h7',
    text: 'M9 15h14M9 19h14M9 23h9',
    sheet: 'M9 14h14v11H9zM9 18h14M14 14v11',
    slides: 'M9 14h14v8H9zM16 22v3',
    archive: 'M16 12v2M16 16v2M16 20v2M14 24h4',
    other: 'M12 19h8',
};

/** The picture of what an entry is. */
export function FileIcon({entry, size}: {entry: Pick<Entry, 'kind' | 'mime_type'>; size: number}): ReactElement {
    const shape = shapeOf(entry);
    return (
        <svg
            className={`filehost-attach__file filehost-attach__file--${shape}`}
            aria-hidden='true'
            focusable='false'
            width={size}
            height={size}
            viewBox='0 0 32 32'
        >
            {shape === 'folder' ? <path d='M3 8a2 2 0 0 1 2-2h7l3 3h12a2 2 0 0 1 2 2v13a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z'/> : (
                <>
                    <path d='M7 3h12l7 7v17a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2z'/>
                    <path
                        className='filehost-attach__fold'
                        d='M19 3v7h7'
                    />
                    <path
                        className='filehost-attach__mark'
                        d={marks[shape]}
                    />
                </>
            )}
        </svg>
    );
}
