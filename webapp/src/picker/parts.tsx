import React, {type FormEvent, type ReactElement, type ReactNode} from 'react';
import {FormattedMessage, type MessageDescriptor} from 'react-intl';

import type {ApiError} from '../client';
import {messages} from './connectWords';

type ButtonProps = {
    kind: 'primary' | 'tertiary' | 'danger' | 'link';
    children: ReactNode;

    /** Absent: the button submits its form. */
    onClick?: () => void;

    /** There is nothing to do yet. */
    disabled?: boolean;

    /** The button stays where it is and keeps the focus, but does nothing. */
    busy?: boolean;
    autoFocus?: boolean;

    /** Set apart from the other buttons of the footer. */
    aside?: boolean;
};

/** A button in the host's look. */
export function Button({kind, children, onClick, disabled = false, busy = false, autoFocus = false, aside = false}: ButtonProps): ReactElement {
    return (
        <button
            type={onClick ? 'button' : 'submit'}
            className={`btn btn-${kind}${aside ? ' filehost-attach__aside' : ''}`}
            disabled={disabled}
            aria-disabled={busy}
            autoFocus={autoFocus}
            onClick={busy ? (event) => {
                event.preventDefault();
            } : onClick}
        >
            {children}
        </button>
    );
}

type FieldProps = {
    id: string;
    label: MessageDescriptor;
    value: string;
    onChange: (value: string) => void;
    help?: ReactNode;
    type?: 'text' | 'password';
    autoComplete: string;
    autoFocus?: boolean;
    className?: string;
};

/** A labelled text field that must be filled in. */
export function Field({id, label, value, onChange, help, type = 'text', autoComplete, autoFocus = false, className = ''}: FieldProps): ReactElement {
    return (
        <div className='form-group'>
            <label htmlFor={id}>
                <FormattedMessage {...label}/>
            </label>
            <input
                id={id}
                className={`form-control ${className}`}
                type={type}
                value={value}
                required={true}
                autoComplete={autoComplete}
                autoCapitalize='none'
                spellCheck={false}
                autoFocus={autoFocus}
                aria-describedby={help ? `${id}-help` : undefined}
                onChange={(event) => {
                    onChange(event.target.value);
                }}
            />
            {help && (
                <p
                    id={`${id}-help`}
                    className='filehost-attach__help'
                >
                    {help}
                </p>
            )}
        </div>
    );
}

/** Something that the user should know before he goes on. */
export function Notice({children}: {children: ReactNode}): ReactElement {
    return (
        <div
            role='alert'
            className='filehost-attach__notice'
        >
            <p>{children}</p>
        </div>
    );
}

/** What went wrong, in words; where it is not for the user to mend, with the reference that an admin can look up. */
export function Problem({problem}: {problem: ApiError | undefined}): ReactElement | null {
    if (!problem) {
        return null;
    }
    const reference = problem.status >= 500 ? problem.requestId : undefined;
    return (
        <div
            role='alert'
            className='filehost-attach__notice filehost-attach__notice--error'
        >
            <p>{wordsOf(problem)}</p>
            {reference && (
                <p className='filehost-attach__help'>
                    <FormattedMessage
                        {...messages.reference}
                        values={{id: reference}}
                    />
                </p>
            )}
        </div>
    );
}

function wordsOf(problem: ApiError): ReactNode {
    switch (problem.code) {
    case 'offline':
        return <FormattedMessage {...messages.offline}/>;
    case 'unreadable':
        return <FormattedMessage {...messages.unexpected}/>;
    default:
        return problem.message;
    }
}

/** Handles a form's submit without leaving the page, and not twice. */
export function onSubmit(busy: boolean, submit: () => void): (event: FormEvent) => void {
    return (event) => {
        event.preventDefault();
        if (!busy) {
            submit();
        }
    };
}

/** Tells a screen reader what it would not notice by itself. */
export function Spoken({children}: {children: ReactNode}): ReactElement {
    return (
        <div
            role='status'
            className='sr-only'
        >
            {children}
        </div>
    );
}
