import React, {useCallback, useEffect, useState, type ReactElement} from 'react';
import {Modal} from 'react-bootstrap';
import {FormattedMessage} from 'react-intl';

import type {Client, Target} from '../client';
import type {Composer} from '../editors';
import type {Connection, FileInfo} from '../types';
import {AskToPost} from './AskToPost';
import {Browser} from './Browser';
import {messages} from './connectWords';
import {Button, Spoken} from './parts';
import {Progress} from './Progress';
import type {Selection} from './selection';
import {isSettled, tally} from './transfer';
import {useTransfer} from './useTransfer';
import {words} from './words';

/** What the picker works with. */
export type PickerProps = {
    client: Client;
    connection: Connection;

    /** The message that files are chosen for. */
    composer: Composer;

    /** Whose way of looking at files is remembered. */
    user: string;

    /** What is chosen stays while the user connects again. */
    selection: Selection;
    onSelection: (selection: Selection) => void;

    /** The host wants the user to connect. */
    onDisconnected: () => void;
    onAccount: () => void;
    close: () => void;
};

/** Lets the user choose files of the host, and puts them into the message that he is writing. */
export function Picker(props: PickerProps): ReactElement {
    const {client, composer, selection, onSelection, close} = props;
    const [asking, setAsking] = useState<Target>();
    const [target, setTarget] = useState<Target>();
    const [lost, setLost] = useState(false);
    const deliver = useCallback((infos: readonly FileInfo[]) => {
        composer.deliver(infos);
    }, [composer]);
    const [transfer, actions] = useTransfer(client, target, deliver);
    const {done} = tally(transfer);
    const settled = isSettled(transfer);

    const finished = transfer.length > 0 && transfer.every(({delivered}) => delivered);
    useEffect(() => {
        if (finished) {
            close();
        }
    }, [finished, close]);

    const attach = (chosen: Selection) => {
        const to = composer.target();
        setLost(!to);
        if (chosen.length === 0 || !to) {
            return;
        }
        if (composer.takesFiles()) {
            setTarget(to);
            actions.start(chosen);
        } else {
            setAsking(to);
        }
    };

    if (asking) {
        return (
            <AskToPost
                client={client}
                target={asking}
                selection={selection}
                onBack={() => {
                    setAsking(undefined);
                }}
                onPosted={close}
            />
        );
    }
    if (transfer.length > 0) {
        return (
            <>
                <Modal.Body>
                    <Spoken>
                        <FormattedMessage
                            {...words.transferred}
                            values={{done, all: transfer.length}}
                        />
                    </Spoken>
                    <Progress
                        transfer={transfer}
                        onCancel={actions.cancel}
                        onRetry={actions.retry}
                    />
                </Modal.Body>
                <Modal.Footer>
                    <Button
                        kind='tertiary'
                        onClick={() => {
                            onSelection(transfer.filter(({delivered}) => !delivered).map(({entry}) => entry));
                            actions.dismiss();
                        }}
                    >
                        <FormattedMessage {...(settled ? words.backToFiles : words.cancelAll)}/>
                    </Button>
                    {settled && (
                        <Button
                            kind='primary'
                            onClick={close}
                        >
                            <FormattedMessage {...messages.done}/>
                        </Button>
                    )}
                </Modal.Footer>
            </>
        );
    }
    return (
        <Browser
            {...props}
            lost={lost}
            onAttach={attach}
        />
    );
}
