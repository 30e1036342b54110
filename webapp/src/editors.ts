import type {Target} from './client';
import type {Draft, EditorProps, FileInfo, HostState} from './types';

/** An editor of the web client, by the form that it is. */
type Editor = {form: Element; props: EditorProps};

/** The message that files are chosen for. */
export type Composer = {

    /** Where it will be posted; undefined where that can't be told. */
    target: () => Target | undefined;

    /** Whether files can be put into it while it is being written. */
    takesFiles: () => boolean;

    /** How many files it has. */
    taken: () => number;

    /** Puts files into it. */
    deliver: (infos: readonly FileInfo[]) => void;

    /** Leads the user back to where he writes. */
    focus: () => void;
};

/**
 * The editors of the web client. A component of ours in the toolbar of each tells what is being written there; only
 * through it can files be put into an open draft (docs/decisions/0037). A narrow toolbar keeps it behind a button.
 */
export class Editors {
    readonly #shown = new Map<symbol, Editor>();

    /** What is still to be done with the next message that a form shows. */
    readonly #expected = new Map<Element, (props: EditorProps) => void>();

    /** Tells what an editor has now, each time that it changes. `key` stands for the component. */
    show(key: symbol, form: Element, props: EditorProps): void {
        this.#shown.set(key, {form, props});
        const expected = this.#expected.get(form);
        if (expected) {
            this.#expected.delete(form);
            expected(props);

            // Not while it is being pressed: a browser takes no notice of that.
            queueMicrotask(() => {
                pressHiddenControls(form);
            });
        }
    }

    /** The component is gone from the screen; maybe its editor is still there. */
    hide(key: symbol): void {
        this.#shown.delete(key);
    }

    /** Begins to choose files for the message in a form. */
    open(form: Element | null, state: HostState): Composer {
        let seen: Draft | undefined;
        const reach = (act: (props: EditorProps) => void) => {
            const editor = this.#editorIn(form);
            if (editor) {
                act(editor.props);
            } else if (form) {
                this.#expected.set(form, act);
                pressHiddenControls(form);
            }
        };
        const draft = () => this.#editorIn(form)?.props.draft ?? seen;
        reach((props) => {
            seen = props.draft;
        });
        return {
            target: () => {
                const current = draft();
                return current ? targetOf(current) : targetOfForm(form, state);
            },
            takesFiles: () => draft() !== undefined,
            taken: () => draft()?.fileInfos.length ?? 0,
            deliver: (infos) => {
                reach((props) => {
                    put(props, infos);
                });
            },
            focus: () => {
                form?.querySelector('textarea')?.focus();
            },
        };
    }

    #editorIn(form: Element | null): Editor | undefined {
        return [...this.#shown.values()].find((editor) => editor.form === form);
    }
}

/** `updateText` keeps all of the draft but the text, so that the text stays and the files come. */
function put({draft, updateText}: EditorProps, infos: readonly FileInfo[]): void {
    const known = new Set(draft.fileInfos.map(({id}) => id));
    draft.fileInfos = [...draft.fileInfos, ...infos.filter(({id}) => !known.has(id))];
    updateText(draft.message);
}

function targetOf({channelId, rootId}: Draft): Target {
    return {channelId, rootId: rootId ?? ''};
}

/** Where a form posts to that does not show our component, as far as the web client's state tells. */
function targetOfForm(form: Element | null, {entities, views}: HostState): Target | undefined {
    if (form?.id === 'create_post') {
        const channelId = entities?.channels?.currentChannelId;
        return channelId ? {channelId, rootId: ''} : undefined;
    }
    const selected = views?.rhs?.selectedPostId;
    const post = selected ? entities?.posts?.posts?.[selected] : undefined;
    return form && selected && post ? {channelId: post.channel_id, rootId: post.root_id === '' ? selected : post.root_id ?? selected} : undefined;
}

/** Presses the button of a narrow toolbar that shows what has no place in it, and hides it again. */
function pressHiddenControls(form: Element): void {
    form.querySelector<HTMLElement>('button[id^="HiddenControlsButton"]')?.click();
}
