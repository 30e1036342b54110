import React, {useEffect, useState, type ReactElement} from 'react';
import {useIntl} from 'react-intl';

import type {Client} from './client';
import type {DoorDialog} from './doors/DoorDialog';
import type {Words} from './picker/translations';
import {LoadFailed} from './Root';
import type {Signal} from './signal';
import type {FileInfo} from './types';

/** What the user wants of a menu or of his settings. */
export type Asked =
    | {door: 'save'; files: FileInfo[]}
    | {door: 'newer'; postId: string}
    | {door: 'connect'};

type Props = {
    client: Client;

    /** Emitted when the user wants something. */
    asked: Signal<Asked>;

    /** Emitted when the user's connection has changed. */
    changed: Signal;
};

type Loaded = {Dialog: typeof DoorDialog; words: Words};

/** Shows the dialog that is asked for. Its script is loaded then, not with the page. */
export function DoorRoot({client, asked, changed}: Props): ReactElement | null {
    const {locale} = useIntl();
    const [wanted, setWanted] = useState<Asked>();
    const [loaded, setLoaded] = useState<Loaded>();
    const [broken, setBroken] = useState(false);

    useEffect(() => asked.subscribe((next) => {
        setWanted(next);
        setBroken(false);
        load(locale).then(setLoaded, () => {
            setBroken(true);
        });
    }), [asked, locale]);

    const onClosed = () => {
        setWanted(undefined);
    };
    if (wanted && loaded) {
        return (
            <loaded.Dialog
                client={client}
                changed={changed}
                asked={wanted}
                words={loaded.words}
                onClosed={onClosed}
            />
        );
    }
    return wanted && broken ? <LoadFailed onClosed={onClosed}/> : null;
}

async function load(locale: string): Promise<Loaded> {
    const {DoorDialog: Dialog, loadAllWords} = await import(/* webpackChunkName: "picker" */ './doors/DoorDialog');
    return {Dialog, words: await loadAllWords(locale).catch(() => ({}))};
}
