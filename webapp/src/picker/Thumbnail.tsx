import React, {useState, type ReactElement} from 'react';

import type {Client} from '../client';
import type {Entry} from '../types';
import {FileIcon} from './icons';

type Props = {
    client: Client;
    entry: Entry;

    /** The side of the square on the screen, in CSS pixels. */
    size: number;

    /** Whether the host makes small images at all. */
    available: boolean;
};

/** What a file looks like: a small image where the host has one, else a picture of what it is. */
export function Thumbnail({client, entry, size, available}: Props): ReactElement {
    const [broken, setBroken] = useState(false);
    if (!available || !entry.has_thumbnail || broken) {
        return (
            <FileIcon
                entry={entry}
                size={Math.min(size, 56)}
            />
        );
    }
    return (
        <img
            className='filehost-attach__thumbnail'
            src={client.thumbnail(entry, size <= 40 ? 64 : 128)}
            alt=''
            width={size}
            height={size}
            loading='lazy'
            decoding='async'
            draggable={false}
            onError={() => {
                setBroken(true);
            }}
        />
    );
}
