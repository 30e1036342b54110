import type {ReactElement} from 'react';

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

/** The part of the web client's plugin registry that we use. */
export type Registry = {
    registerRootComponent: (component: () => ReactElement | null) => string;
    registerFileUploadMethod: (icon: ReactElement, action: (upload: (files: File[]) => void) => void, text: ReactElement) => string;
    registerWebSocketEventHandler: (event: string, handler: () => void) => void;
    registerTranslations: (translationsOf: (locale: string) => Record<string, string>) => void;
};

/** What the web client calls after the plugin's script has registered itself. */
export type Plugin = {
    initialize: (registry: Registry) => void;
};
