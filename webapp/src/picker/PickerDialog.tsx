import React, {useState, type ReactElement} from 'react';
import {IntlProvider, useIntl} from 'react-intl';

import type {Client} from '../client';
import type {Composer} from '../editors';
import type {Signal} from '../signal';
import {ConnectDialog} from './ConnectDialog';
import {Picker} from './Picker';
import type {Selection} from './selection';
import type {Words} from './translations';

export {loadWords} from './translations';

type Props = {
    client: Client;
    changed: Signal;
    composer: Composer;

    /** The user's id in Mattermost; empty when it is not known. */
    user: string;

    /** In his language. */
    words: Words;
    onClosed: () => void;
};

/** The dialog in which a user chooses files of the host for his message, after he has connected. */
export function PickerDialog({client, changed, composer, user, words, onClosed}: Props): ReactElement {
    const {locale, messages} = useIntl();
    const [selection, setSelection] = useState<Selection>([]);
    return (
        <IntlProvider
            locale={locale}
            messages={{...messages as Words, ...words}}
            onError={() => {
                // A language that we don't have: what is there is English.
            }}
        >
            <ConnectDialog
                client={client}
                changed={changed}
                onClosed={onClosed}
            >
                {(connected) => (
                    <Picker
                        {...connected}
                        client={client}
                        composer={composer}
                        user={user}
                        selection={selection}
                        onSelection={setSelection}
                    />
                )}
            </ConnectDialog>
        </IntlProvider>
    );
}
