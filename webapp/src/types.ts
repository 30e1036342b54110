import type {ComponentType, ReactElement} from 'react';

/** A configured file host. */
export type Host = {

    /** Immutable; not for people. */
    id: string;

    /** What the admin calls the host. */
    name: string;

    kind: string;
};

/**
 * How one gets access: `oauth` on the host's own sign-in page, `login_flow` on a page of the host that
 * gives the plugin an app password, `password` with an app password typed here; the others need no act of the user.
 */
export type Method = 'oauth' | 'login_flow' | 'password' | AutomaticMethod;

/** The methods that need no act of the user. */
export type AutomaticMethod = 'token_exchange' | 'jwt_bearer' | 'app_token' | 'service_account';

/** An account of the host that waits for the user's word. */
export type Pending = {

    /** Its name at the host. */
    account: string;
    display_name?: string;
    email?: string;

    /** RFC 3339 UTC. */
    expires_at: string;
};

/** The caller's own access to the file host. */
export type Connection = {

    /** `reconnect`: there was a connection, and the host no longer honours it. */
    state: 'connected' | 'not_connected' | 'reconnect';
    host: Host;

    /** The first of `methods`. */
    method: Method;

    /** How the user can connect, the best first; never empty. */
    methods: Method[];

    /** Whether the first use connects without an act of the user. */
    automatic: boolean;

    /** Why a method gave the user no access; `reason` is a sentence for him, in English. */
    refused?: {method: Method; reason: string};

    /** Not connected before the user has seen it and said yes. */
    pending?: Pending;

    /** The user's name at the host; absent while not connected or where the host doesn't say. */
    account?: string;

    /** The kind of grant behind the connection. */
    grant?: string;

    /** When the user connected, RFC 3339 UTC. */
    since?: string;

    /** When the connection was last used, RFC 3339 UTC; absent when it never was. */
    last_used?: string;

    /** What one request to attach takes. */
    limits?: Limits;
};

/** What one request to attach takes: so many files, and so many bytes of each and of all together. */
export type Limits = {files: number; file_size: number; total_size: number};

/** A file or a folder of the host. */
export type Entry = {

    /** Opaque; the same entry has the same one in each listing. */
    id: string;
    name: string;

    /** Absolute; empty where the name is no text, and only the id finds it. */
    path: string;
    kind: 'file' | 'folder';

    /** In bytes. */
    size: number;

    /** Empty for a folder. */
    mime_type: string;

    /** RFC 3339 UTC; null where the host doesn't say. */
    modified_at: string | null;
    etag?: string;
    permissions: ('read' | 'write' | 'delete' | 'rename' | 'create' | 'share')[];
    favorite?: boolean;
    shared?: boolean;
    has_thumbnail: boolean;
    web_url?: string;
};

/** What the host can do for this user. */
export type Capabilities = {search: boolean; recent: boolean; favorites: boolean; shared: boolean; thumbnails: boolean};

/** Which entries a listing is made of. */
export type ListingView = 'folder' | 'recent' | 'favorites' | 'shared';

/** What a listing is ordered by. */
export type Sort = 'name' | 'modified' | 'size';

/** Which way. */
export type Order = 'asc' | 'desc';

/** One page of a listing. */
export type Page = {

    /** Absent for a search, and for a view other than `folder`. */
    folder?: Entry;
    entries: Entry[];

    /** There is more than all pages together show. */
    truncated?: boolean;
    next_cursor?: string;
    total?: number;
    capabilities: Capabilities;
};

/** A file of Mattermost's; it has more fields, which the web client knows. */
export type FileInfo = {id: string; name: string; size: number};

/** What came of an attachment. */
export type Attached = {
    post_id?: string;
    file_infos?: FileInfo[];
    items: {name: string; error?: ErrorBody}[];
};

/** The codes of the API's errors, and two for calls that brought no answer of the API. */
export type ErrorCode =
    | 'invalid_request'
    | 'not_authenticated'
    | 'forbidden'
    | 'not_found'
    | 'method_not_allowed'
    | 'conflict'
    | 'changed'
    | 'too_large'
    | 'unsupported'
    | 'key_reused'
    | 'not_connected'
    | 'rate_limited'
    | 'internal'
    | 'host_unavailable'
    | 'not_configured'
    | 'maintenance'
    | 'timeout'
    | 'offline'
    | 'unreadable';

/** The API's error body. `message` is for a person, in English. */
export type ErrorBody = {
    id: string;
    code: ErrorCode;
    message: string;
    status_code: number;
    request_id: string;
    details?: Record<string, unknown>;
};

/** A message that is being written, as the web client has it. */
export type Draft = {
    channelId: string;

    /** The first post of the thread; empty or absent outside of one. */
    rootId?: string;
    message: string;
    fileInfos: FileInfo[];
};

/** What the web client gives to a component that it shows in an editor's toolbar. */
export type EditorProps = {
    draft: Draft;
    updateText: (message: string) => void;
};

/** The part of the web client's state that we read; any of it may be missing. */
export type HostState = {
    entities?: {
        users?: {currentUserId?: string; profiles?: Record<string, {locale?: string} | undefined>};
        channels?: {currentChannelId?: string};
        posts?: {posts?: Record<string, {channel_id: string; root_id?: string; user_id?: string; type?: string; file_ids?: string[]} | undefined>};
        files?: {files?: Record<string, FileInfo | undefined>};
    };
    views?: {rhs?: {selectedPostId?: string}};
};

/** The web client's store. */
export type Store = {getState: () => HostState};

/** A post, as the web client gives it to the component of its type. */
export type Post = {

    /** Of the server, while it is not being sent. */
    id: string;
    message: string;
    user_id: string;

    /** When it was last changed, in milliseconds. */
    update_at?: number;
};

/** A page of ours among the user's settings. */
export type UserSettings = {
    id: string;

    /** The name of the page. */
    uiName: string;
    sections: {title: string; component: ComponentType}[];
};

/** The part of the web client's plugin registry that we use. */
export type Registry = {
    registerRootComponent: (component: () => ReactElement | null) => string;
    registerFileUploadMethod: (icon: ReactElement, action: (upload: (files: File[]) => void) => void, text: ReactElement) => string;

    /** Missing in some versions. */
    registerPostEditorActionComponent?: (component: (props: EditorProps) => ReactElement | null) => string;
    registerPostTypeComponent?: (type: string, component: ComponentType<{post: Post}>) => string;
    registerFileDropdownMenuAction?: (match: (file: FileInfo) => boolean, text: ReactElement, action: (file: FileInfo) => void) => string;
    registerPostDropdownMenuAction?: (text: ReactElement, action: (postId: string) => void, filter: (postId: string) => boolean) => string;
    registerUserSettings?: (settings: UserSettings) => void;
    registerWebSocketEventHandler: (event: string, handler: () => void) => void;
    registerTranslations: (translationsOf: (locale: string) => Record<string, string>) => void;
};

/** What the web client calls after the plugin's script has registered itself. */
export type Plugin = {
    initialize: (registry: Registry, store: Store) => void;
};
