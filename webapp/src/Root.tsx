import React, {useEffect, useRef, useState, type ReactElement} from 'react';
import {Modal} from 'react-bootstrap';
import {FormattedMessage} from 'react-intl';

import type {Client} from './client';
import {Frame} from './Frame';
import {messages} from './messages';
import type {ConnectDialog} from './picker/ConnectDialog';
import type {Signal} from './signal';

type Props = {
    client: Client;

    /** Emitted when the user wants the dialog. */
    opened: Signal;

    /** Emitted when the user's connection has changed. */
    changed: Signal;
};

/** Shows the dialog when it is asked for. Its script is loaded then, not with the page. */
export function Root({client, opened, changed}: Props): ReactElement | null {
    const [open, setOpen] = useState(false);
    const [dialog, setDialog] = useState<{Dialog: typeof ConnectDialog}>();
    const [broken, setBroken] = useState(false);
    const editor = useRef<Element | null>(null);

    useEffect(() => opened.subscribe(() => {
        editor.current = document.activeElement?.closest('form') ?? null;
        setOpen(true);
        setBroken(false);
        import(/* webpackChunkName: "connect" */ './picker/ConnectDialog').then(
            ({ConnectDialog: Dialog}) => {
                setDialog({Dialog});
            },
            () => {
                setBroken(true);
            },
        );
    }), [opened]);

    // The item that opened the dialog is hidden by now: the focus goes on where the user writes.
    useEffect(() => {
        if (!open && document.activeElement === document.body) {
            editor.current?.querySelector('textarea')?.focus();
        }
    }, [open]);

    const onClosed = () => {
        setOpen(false);
    };

    if (open && dialog) {
        return (
            <dialog.Dialog
                client={client}
                changed={changed}
                onClosed={onClosed}
            />
        );
    }
    if (open && broken) {
        return <LoadFailed onClosed={onClosed}/>;
    }
    return null;
}

function LoadFailed({onClosed}: {onClosed: () => void}): ReactElement {
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
