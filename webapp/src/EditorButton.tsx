import React, {useEffect, useLayoutEffect, useRef, useState, type ReactElement} from 'react';
import {useIntl} from 'react-intl';

import type {Client} from './client';
import type {Editors} from './editors';
import {useHostName} from './hostName';
import {CloudIcon} from './icon';
import {messages} from './messages';
import type {EditorProps} from './types';

type Props = EditorProps & {client: Client; editors: Editors; onPress: (form: Element | null) => void};

/** A button in the toolbar of an editor. It is also what tells us of the message that is written there. */
export function EditorButton({client, editors, onPress, draft, updateText}: Props): ReactElement {
    const intl = useIntl();
    const host = useHostName(client);
    const button = useRef<HTMLButtonElement>(null);
    const [key] = useState(() => Symbol('editor'));

    useLayoutEffect(() => {
        const form = button.current?.closest('form');
        if (form) {
            editors.show(key, form, {draft, updateText});
        }
    }, [editors, key, draft, updateText]);
    useEffect(() => () => {
        editors.hide(key);
    }, [editors, key]);

    const name = host === undefined ? intl.formatMessage(messages.attachFromFileHost) : intl.formatMessage(messages.attachFrom, {host});
    return (
        <button
            ref={button}
            type='button'
            className='style--none AdvancedTextEditor__action-button'
            aria-label={name}
            title={name}
            onClick={() => {
                onPress(button.current?.closest('form') ?? null);
            }}
        >
            <CloudIcon size='18'/>
        </button>
    );
}
