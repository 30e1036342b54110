import {useEffect, useState} from 'react';

import type {Client} from './client';

/** What is known of a host's name, once for all who ask the same client for it. */
const names = new WeakMap<Client, Promise<string>>();

/** What the admin calls the file host; undefined while that is not known. */
export function useHostName(client: Client): string | undefined {
    const [name, setName] = useState<string>();
    useEffect(() => {
        let gone = false;
        nameOf(client).then(
            (known) => {
                if (!gone) {
                    setName(known);
                }
            },
            () => {
                // The dialog tells what is wrong once it is opened; the name is asked for again then.
                names.delete(client);
            },
        );
        return () => {
            gone = true;
        };
    }, [client]);
    return name;
}

function nameOf(client: Client): Promise<string> {
    const asked = names.get(client) ?? client.connection().then(({host}) => host.name);
    names.set(client, asked);
    return asked;
}
