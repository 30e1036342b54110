import React, {useCallback, useEffect, useState, type FormEvent, type ReactElement} from 'react';

import type {Draft, EditorProps, FileInfo, Registry, UploadMethod} from './registry';

/** How the toolbar of an editor shows the components of plugins: beside the others, behind a button, or not at all. */
export type Toolbar = 'wide' | 'narrow' | 'hidden';

type Props = {
    registry: Registry;
    label: string;
    channelId: string;
    rootId: string;
    toolbar: Toolbar;
    onSend: (draft: Draft) => Promise<void>;
};

const blank = (channelId: string, rootId: string): Draft => ({channelId, rootId, message: '', fileInfos: [], uploadsInProgress: []});

/**
 * An editor as the web client has it (advanced_text_editor.tsx, use_plugin_items.tsx): the draft is a state of its own,
 * `updateText` keeps all of it but the text, and a narrow toolbar mounts the components of plugins only while they are shown.
 */
export function Editor({registry, label, channelId, rootId, toolbar, onSend}: Props): ReactElement {
    const [draft, setDraft] = useState(() => blank(channelId, rootId));
    const updateText = useCallback((message: string) => {
        setDraft({...draft, message});
    }, [draft]);

    const send = (event: FormEvent) => {
        event.preventDefault();
        void onSend(draft).then(() => {
            setDraft(blank(channelId, rootId));
        });
    };
    return (
        <form
            id={rootId === '' ? 'create_post' : undefined}
            className='AdvancedTextEditor'
            onSubmit={send}
        >
            <textarea
                aria-label={label}
                value={draft.message}
                onChange={(event) => {
                    setDraft({...draft, message: event.target.value});
                }}
            />
            <Chips
                files={draft.fileInfos}
                onRemove={(id) => {
                    setDraft({...draft, fileInfos: draft.fileInfos.filter((file) => file.id !== id)});
                }}
            />
            <div className='toolbar'>
                <Actions
                    registry={registry}
                    toolbar={toolbar}
                    editor={{draft, updateText, getSelectedText: () => ({start: 0, end: 0})}}
                />
                <Paperclip methods={registry.uploadMethods}/>
                <button
                    type='submit'
                    disabled={draft.message.trim() === '' && draft.fileInfos.length === 0}
                >
                    {'Send'}
                </button>
            </div>
        </form>
    );
}

/** The files that the message has. */
function Chips({files, onRemove}: {files: FileInfo[]; onRemove: (id: string) => void}): ReactElement | null {
    return files.length === 0 ? null : (
        <ul
            className='chips'
            aria-label='Attached files'
        >
            {files.map(({id, name}) => (
                <li key={id}>
                    <span>{name}</span>
                    <button
                        type='button'
                        aria-label={`Remove ${name}`}
                        onClick={() => {
                            onRemove(id);
                        }}
                    >
                        {'×'}
                    </button>
                </li>
            ))}
        </ul>
    );
}

/** What plugins add to the toolbar. */
function Actions({registry, toolbar, editor}: {registry: Registry; toolbar: Toolbar; editor: EditorProps}): ReactElement | null {
    const [open, setOpen] = useState(false);
    const actions = registry.editorActions.map((Action, index) => (
        <Action
            key={index}
            {...editor}
        />
    ));
    switch (toolbar) {
    case 'wide':
        return <>{actions}</>;
    case 'narrow':
        return (
            <>
                <button
                    type='button'
                    id='HiddenControlsButtonRHS_COMMENT'
                    aria-label='show hidden formatting options'
                    aria-expanded={open}
                    onClick={() => {
                        setOpen(!open);
                    }}
                >
                    {'…'}
                </button>
                {open && actions}
            </>
        );
    case 'hidden':
        return null;
    }
}

function Paperclip({methods}: {methods: UploadMethod[]}): ReactElement {
    const [open, setOpen] = useState(false);
    useEffect(() => {
        const close = () => {
            setOpen(false);
        };
        document.addEventListener('click', close);
        return () => {
            document.removeEventListener('click', close);
        };
    }, []);
    return (
        <div className='paperclip'>
            <button
                type='button'
                aria-label='attachment'
                aria-expanded={open}
                onClick={(event) => {
                    event.stopPropagation();
                    setOpen(!open);
                }}
            >
                {'+'}
            </button>
            <ul hidden={!open}>
                {methods.map(({icon, action, text}, index) => (
                    <li
                        key={index}
                        onClick={() => {
                            action(() => undefined);
                            setOpen(false);
                        }}
                    >
                        <a
                            href='#'
                            onClick={(event) => {
                                event.preventDefault();
                            }}
                        >
                            <span className='mr-2'>{icon}</span>
                            {text}
                        </a>
                    </li>
                ))}
            </ul>
        </div>
    );
}
