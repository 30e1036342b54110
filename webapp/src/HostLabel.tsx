import React, {type ReactElement} from 'react';
import {FormattedMessage, type MessageDescriptor} from 'react-intl';

import type {Client} from './client';
import {useHostName} from './hostName';

/** The words of an item in a menu; they name the host as soon as its name is known. */
export function HostLabel({client, named, unnamed}: {client: Client; named: MessageDescriptor; unnamed: MessageDescriptor}): ReactElement {
    const host = useHostName(client);
    return host === undefined ? <FormattedMessage {...unnamed}/> : (
        <FormattedMessage
            {...named}
            values={{host}}
        />
    );
}
