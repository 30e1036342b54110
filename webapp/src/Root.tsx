import React, {useEffect, useState, type ReactElement} from 'react';
import {Modal} from 'react-bootstrap';
import {FormattedMessage, useIntl} from 'react-intl';

import type {Client} from './client';
import type {Composer} from './editors';
import {Frame} from './Frame';
import {messages} from './messages';
import type {PickerDialog} from './picker/PickerDialog';
import type {Words} from './picker/translations';
import type {Signal} from './signal';

type Props = {
    client: Client;

    /** Emitted with the message when the user wants files for it. */
    opened: Signal<Composer>;

    /** Emitted when the user's connection has changed. */
    changed: Signal;

    /** The id in Mattermost of who is logged in; empty when it is not known. */
    userId: () => string;
};

type Loaded = {Dialog: typeof PickerDialog; words: Words};

/** Shows the dialog when it is asked for. Its script is loaded then, not with the page. */
export function Root({client, opened, changed, userId}: Props): ReactElement | null {
    const {locale} = useIntl();
    const [composer, setComposer] = useState<Composer>();
    const [loaded, setLoaded] = useState<Loaded>();
    const [broken, setBroken] = useState(false);

    useEffect(() => opened.subscribe((target) => {
        setComposer(target);
        setBroken(false);
        load(locale).then(setLoaded, () => {
            setBroken(true);
        });
    }), [opened, locale]);

    const onClosed = () => {
        setComposer(undefined);

        // The item that opened the dialog is hidden by now: the focus goes on where the user writes.
        composer?.focus();
    };

    if (composer && loaded) {
        return (
            <loaded.Dialog
                client={client}
                changed={changed}
                composer={composer}
                user={userId()}
                words={loaded.words}
                onClosed={onClosed}
            />
        );
    }
    if (composer && broken) {
        return <LoadFailed onClosed={onClosed}/>;
    }
    return null;
}

/** Loads the dialog and its words. Without those of the language it speaks English. */
async function load(locale: string): Promise<Loaded> {
    const {PickerDialog: Dialog, loadWords} = await import(/* webpackChunkName: "picker" */ './picker/PickerDialog');
    return {Dialog, words: await loadWords(locale).catch(() => ({}))};
}

/** The script of a dialog could not be loaded. */
export function LoadFailed({onClosed}: {onClosed: () => void}): ReactElement {
    return (
        <Frame
            open={true}
            onClose={onClosed}
            onClosed={onClosed}
            title={<FormattedMessage {...messages.fileHost}/>}
        >
            <Modal.Body>
                <p role='alert'>
                    <FormattedMessage {...messages.loadFailed}/>
                </p>
            </Modal.Body>
        </Frame>
    );
}
