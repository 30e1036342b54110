import React, {type ReactElement} from 'react';
import {FormattedMessage} from 'react-intl';

import type {Client} from './client';
import {useHostName} from './hostName';
import {messages} from './messages';

/** The words of the item in the paperclip menu; they name the host as soon as its name is known. */
export function AttachLabel({client}: {client: Client}): ReactElement {
    const host = useHostName(client);
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
