import React, {type ReactElement, type ReactNode} from 'react';
import {IntlProvider, useIntl} from 'react-intl';

import type {Words} from '../picker/translations';

/** Gives what it shows more words in the user's language. */
export function Worded({words, children}: {words: Words; children: ReactNode}): ReactElement {
    const {locale, messages} = useIntl();
    return (
        <IntlProvider
            locale={locale}
            messages={{...messages as Words, ...words}}
            onError={() => {
                // A language that we don't have: what is there is English.
            }}
        >
            {children}
        </IntlProvider>
    );
}
