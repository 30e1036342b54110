import React, {useEffect, useRef, type KeyboardEvent, type ReactElement, type ReactNode} from 'react';
import {Modal} from 'react-bootstrap';
import {useIntl} from 'react-intl';

import {messages} from './messages';

type Props = {
    open: boolean;

    /** The user wants to leave: by Escape, the cross, or a click beside the dialog. */
    onClose: () => void;

    /** The dialog is gone from the screen. */
    onClosed: () => void;
    title: ReactNode;

    /** As large as the screen allows; else as large as a question. */
    wide?: boolean;

    /** The dialog's body and footer. */
    children: ReactNode;
};

/** A modal dialog in the host's look, named by its title. */
export function Frame({open, onClose, onClosed, title, wide = false, children}: Props): ReactElement {
    const intl = useIntl();
    const heading = useRef<HTMLSpanElement>(null);

    // The library wraps the dialog in a second one that has no name.
    useEffect(() => {
        heading.current?.closest('.modal')?.parentElement?.setAttribute('role', 'presentation');
    }, []);

    return (
        <Modal
            show={open}
            onHide={onClose}
            onExited={onClosed}
            className={`filehost-attach${wide ? ' filehost-attach--wide' : ''}`}

            // Escape may mean less than to leave: see below.
            keyboard={false}
            dialogClassName='a11y__modal'
            role='dialog'
            aria-modal={true}
            aria-labelledby='filehost-attach-title'
            onKeyDown={(event: KeyboardEvent<unknown>) => {
                if (event.key === 'Escape' && !event.defaultPrevented) {
                    onClose();
                }
                keepFocusInside(event);
            }}
        >
            <Modal.Header
                closeButton={true}
                closeLabel={intl.formatMessage(messages.close)}
            >
                <Modal.Title
                    componentClass='h1'
                    id='filehost-attach-title'
                >
                    <span ref={heading}>{title}</span>
                </Modal.Title>
            </Modal.Header>
            {children}
        </Modal>
    );
}

/** Leads Tab from the last control of a dialog to its first, and back. */
function keepFocusInside(event: KeyboardEvent<unknown>): void {
    if (!(event.currentTarget instanceof HTMLElement)) {
        return;
    }
    const controls = [...event.currentTarget.querySelectorAll<HTMLElement>('a[href], button:enabled, input, select, [tabindex="0"]')];
    const [first, last] = [controls[0], controls.at(-1)];
    if (event.key !== 'Tab' || !first || !last) {
        return;
    }

    // The dialog itself has the focus before any of its controls.
    const atStart = document.activeElement === first || document.activeElement === event.currentTarget;
    if (event.shiftKey && atStart) {
        event.preventDefault();
        last.focus();
    } else if (!event.shiftKey && document.activeElement === last) {
        event.preventDefault();
        first.focus();
    }
}
