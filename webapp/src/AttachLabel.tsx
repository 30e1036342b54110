import React, {useEffect, useState, type ReactElement} from 'react';
import {FormattedMessage} from 'react-intl';

import type {Client} from './client';
import {messages} from './messages';

/** The words of the item in the paperclip menu; they name the host as soon as its name is known. */
export function AttachLabel({client}: {client: Client}): ReactElement {
    const [host, setHost] = useState<string>();

    useEffect(() => {
        const request = new AbortController();
        client.connection(request.signal).then(
            (connection) => {
                if (!request.signal.aborted) {
                    setHost(connection.host.name);
                }
            },
            () => {
                // The dialog tells what is wrong once it is opened; the item does without the name.
            },
        );
        return () => {
            request.abort();
        };
    }, [client]);

    if (host === undefined) {
        return <FormattedMessage {...messages.attachFromFileHost}/>;
    }
    return (
        <FormattedMessage
            {...messages.attachFrom}
            values={{host}}
        />
    );
}
