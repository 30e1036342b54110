import React, {useEffect, useState, type ReactElement} from 'react';
import {FormattedMessage, useIntl} from 'react-intl';

import type {Client} from './client';
import type {Account} from './doors/Account';
import {messages} from './messages';
import type {Words} from './picker/translations';
import type {Signal} from './signal';

type Props = {client: Client; changed: Signal; onConnect: () => void};

type Loaded = {Shown: typeof Account; words: Words};

/** The account in the user's settings. Its script is loaded when the page is opened. */
export function AccountSection(props: Props): ReactElement | null {
    const {locale} = useIntl();
    const [loaded, setLoaded] = useState<Loaded>();
    const [broken, setBroken] = useState(false);

    useEffect(() => {
        let gone = false;
        load(locale).then(
            (parts) => {
                if (!gone) {
                    setLoaded(parts);
                }
            },
            () => {
                if (!gone) {
                    setBroken(true);
                }
            },
        );
        return () => {
            gone = true;
        };
    }, [locale]);

    if (broken) {
        return (
            <p role='alert'>
                <FormattedMessage {...messages.loadFailed}/>
            </p>
        );
    }
    return loaded ? (
        <loaded.Shown
            {...props}
            words={loaded.words}
        />
    ) : null;
}

async function load(locale: string): Promise<Loaded> {
    const {Account: Shown, loadAllWords} = await import(/* webpackChunkName: "picker" */ './doors/Account');
    return {Shown, words: await loadAllWords(locale).catch(() => ({}))};
}
