import React, {type ReactElement} from 'react';

import type {Client} from '../client';
import type {Asked} from '../DoorRoot';
import {messages} from '../messages';
import {ConnectDialog} from '../picker/ConnectDialog';
import type {Words} from '../picker/translations';
import type {Signal} from '../signal';
import css from './doors.css?raw';
import {Newer} from './Newer';
import {Save} from './Save';
import {Worded} from './Worded';
import {words as said} from './words';

export {loadAllWords} from './allWords';

type Props = {
    client: Client;
    changed: Signal;
    asked: Asked;
    words: Words;
    onClosed: () => void;
};

/** The dialog for what the user has asked for, after he has connected. */
export function DoorDialog({words, ...props}: Props): ReactElement {
    return (
        <Worded words={words}>
            <style>{css}</style>
            <Dialog {...props}/>
        </Worded>
    );
}

function Dialog({client, changed, asked, onClosed}: Omit<Props, 'words'>): ReactElement {
    switch (asked.door) {
    case 'connect':
        return (
            <ConnectDialog
                client={client}
                changed={changed}
                onClosed={onClosed}
            />
        );
    case 'newer':
        return (
            <ConnectDialog
                client={client}
                changed={changed}
                purpose={said.checkTitle}
                wide={false}
                onClosed={onClosed}
            >
                {(connected) => (
                    <Newer
                        {...connected}
                        postId={asked.postId}
                    />
                )}
            </ConnectDialog>
        );
    case 'save':
        return (
            <ConnectDialog
                client={client}
                changed={changed}
                purpose={messages.saveTo}
                onClosed={onClosed}
            >
                {(connected) => (
                    <Save
                        {...connected}
                        client={client}
                        files={asked.files}
                    />
                )}
            </ConnectDialog>
        );
    }
}
