import type {ComponentType, ReactElement} from 'react';

/** An item of the paperclip menu. */
export type UploadMethod = {
    icon: ReactElement;
    action: (upload: (files: File[]) => void) => void;
    text: ReactElement | string;
};

/** A message that is being written. */
export type Draft = {channelId: string; rootId: string; message: string; fileInfos: FileInfo[]; uploadsInProgress: string[]};

/** A file of Mattermost's. */
export type FileInfo = {id: string; name: string; size: number};

/** What a component in the toolbar of an editor gets. */
export type EditorProps = {draft: Draft; updateText: (message: string) => void; getSelectedText: () => {start: number; end: number}};

/** What a component for posts of a type gets. */
export type PostProps = {post: {id: string; message: string; user_id: string; update_at: number}};

/** An item of the menu of a file. */
export type FileAction = {match: (file: FileInfo) => boolean; text: ReactElement; action: (file: FileInfo) => void};

/** An item of the menu of a post. */
export type PostAction = {text: ReactElement; action: (postId: string) => void; filter: (postId: string) => boolean};

/** A page in the user's settings. */
export type UserSettings = {id: string; uiName: string; sections: {title: string; component: ComponentType}[]};

type Plugin = {initialize: (registry: Registry, store: unknown) => void};

/**
 * The part of the web client's plugin registry that plugins of this project may
 * use. A call of anything else fails, as it does in a web client that lacks it.
 */
export class Registry {
    readonly roots: ComponentType[] = [];
    readonly uploadMethods: UploadMethod[] = [];
    readonly editorActions: ComponentType<EditorProps>[] = [];
    readonly postTypes = new Map<string, ComponentType<PostProps>>();
    readonly fileActions: FileAction[] = [];
    readonly postActions: PostAction[] = [];
    readonly settings: UserSettings[] = [];
    readonly handlers = new Map<string, (message: unknown) => void>();
    readonly translations: ((locale: string) => Record<string, string>)[] = [];

    registerRootComponent(component: ComponentType): string {
        this.roots.push(component);
        return `root-${this.roots.length}`;
    }

    registerFileUploadMethod(icon: ReactElement, action: UploadMethod['action'], text: UploadMethod['text']): string {
        this.uploadMethods.push({icon, action, text});
        return `upload-${this.uploadMethods.length}`;
    }

    registerPostEditorActionComponent(component: ComponentType<EditorProps>): string {
        this.editorActions.push(component);
        return `editor-${this.editorActions.length}`;
    }

    registerPostTypeComponent(type: string, component: ComponentType<PostProps>): string {
        this.postTypes.set(type, component);
        return `post-${type}`;
    }

    registerFileDropdownMenuAction(match: FileAction['match'], text: ReactElement, action: FileAction['action']): string {
        this.fileActions.push({match, text, action});
        return `file-${this.fileActions.length}`;
    }

    registerPostDropdownMenuAction(text: ReactElement, action: PostAction['action'], filter: PostAction['filter']): string {
        this.postActions.push({text, action, filter});
        return `post-${this.postActions.length}`;
    }

    registerUserSettings(settings: UserSettings): void {
        this.settings.push(settings);
    }

    registerWebSocketEventHandler(event: string, handler: (message: unknown) => void): void {
        this.handlers.set(event, handler);
    }

    registerTranslations(translationsOf: (locale: string) => Record<string, string>): void {
        this.translations.push(translationsOf);
    }

    /** The messages of all plugins in a locale. */
    messages(locale: string): Record<string, string> {
        return Object.assign({}, ...this.translations.map((translationsOf) => translationsOf(locale))) as Record<string, string>;
    }
}

/** Runs the scripts of all plugins that the server offers, and hands each plugin the registry. */
export async function loadPlugins(site: string, store: unknown): Promise<Registry> {
    const registry = new Registry();
    const answer = await fetch(`${site}/api/v4/plugins/webapp`, {credentials: 'same-origin'});
    const manifests = await answer.json() as {id: string; webapp: {bundle_path: string}}[];

    for (const {id, webapp} of manifests) {
        // The server serves the scripts elsewhere than its manifests say; the web client knows.
        const plugin = await run(id, site + webapp.bundle_path.replace('/static/', '/static/plugins/'));
        plugin.initialize(registry, store);
    }
    return registry;
}

/** Loads a plugin's script and waits for its call of `registerPlugin`. */
function run(id: string, address: string): Promise<Plugin> {
    return new Promise((resolve, reject) => {
        Object.assign(window, {
            registerPlugin: (registered: string, plugin: Plugin) => {
                if (registered === id) {
                    resolve(plugin);
                }
            },
        });
        const script = document.createElement('script');
        script.src = address;
        script.onerror = () => {
            reject(new Error(`${address} cannot be loaded`));
        };
        document.head.append(script);
    });
}
