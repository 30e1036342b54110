import {call, json} from '../client';
import type {Entry, ErrorBody, Host} from '../types';

/** A link as its post has it. */
export type Link = {
    audience: 'internal' | 'public';

    /** Absent where the link was revoked. */
    url?: string;
    permission?: 'view' | 'edit';
    password_set: boolean;

    /** RFC 3339 UTC, both. */
    expires_at?: string;
    revoked_at?: string;
};

/** One entry of a card. */
export type CardItem = Pick<Entry, 'name' | 'kind' | 'size' | 'mime_type' | 'modified_at'> & {link?: Link};

/** What the plugin knows of a post that it made. */
export type CardData = {post_id: string; user_id: string; posted_at: string; host: Host; items: CardItem[]};

/** What became of a file or folder since it was posted. */
export type Refreshed = {
    name: string;
    state: 'unchanged' | 'changed' | 'renamed' | 'gone' | 'unknown';
    error?: ErrorBody;
};

/** What becomes of a file whose name is taken. */
export type Conflict = 'rename' | 'replace' | 'fail';

/** A folder of the host: by its id where it has one, else by its path. */
export type Folder = {path: string; id?: string | undefined};

const base = () => `${window.basename ?? ''}/plugins/filehost-attach/api`;

/** What a post's card shows. */
export async function readCard(postId: string, signal: AbortSignal): Promise<CardData> {
    return json<CardData>(await call(`${base()}/cards/${encodeURIComponent(postId)}`, {method: 'GET', signal}));
}

/** Compares the files of the user's own post with those of the host, and brings in the newer ones unless it is a dry run. */
export async function refresh(postId: string, dryRun: boolean, signal?: AbortSignal): Promise<{items: Refreshed[]; reply_id?: string}> {
    return json(await call(`${base()}/refresh`, {method: 'POST', body: {post_id: postId, dry_run: dryRun}, signal}));
}

/** Saves a file of Mattermost in a folder. */
export async function save(fileId: string, {path, id}: Folder, conflict: Conflict, signal: AbortSignal): Promise<Entry> {
    const body = {file_id: fileId, conflict, ...(id === undefined ? {folder: path} : {folder_id: id})};
    return (await json<{entry: Entry}>(await call(`${base()}/save`, {method: 'POST', body, signal}))).entry;
}

/** Makes a folder in another. */
export async function makeFolder({path, id}: Folder, name: string, signal: AbortSignal): Promise<Entry> {
    const body = id === undefined ? {path: `${path.replace(/\/$/, '')}/${name}`} : {parent_id: id, name};
    return json<Entry>(await call(`${base()}/folders`, {method: 'POST', body, signal}));
}

/** The address, if it is one of the web and nothing that a browser would run as a script. */
export function webAddress(address: string | undefined): string | undefined {
    const {protocol} = address !== undefined && URL.canParse(address) ? new URL(address) : {protocol: ''};
    return protocol === 'https:' || protocol === 'http:' ? address : undefined;
}
