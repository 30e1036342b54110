import type {Draft} from './registry';

/** A post, as far as the page shows it. */
export type Post = {
    id: string;
    channel_id: string;
    root_id: string;
    user_id: string;
    type: string;
    message: string;
    update_at: number;
    file_ids?: string[];
    metadata: {files?: {id: string; name: string; size: number}[]};
};

/** Mattermost's own API, as the person who is logged in. */
export class Mattermost {
    constructor(private readonly site: string) {}

    /** Posts what was written. */
    async send({channelId, rootId, message, fileInfos}: Draft): Promise<Post> {
        return await this.#call('POST', '/posts', {channel_id: channelId, root_id: rootId, message, file_ids: fileInfos.map(({id}) => id)}) as Post;
    }

    /** A post that is there. */
    async post(id: string): Promise<Post> {
        return await this.#call('GET', `/posts/${id}`) as Post;
    }

    /** The id of who is logged in. */
    async me(): Promise<string> {
        return (await this.#call('GET', '/users/me') as {id: string}).id;
    }

    async #call(method: string, route: string, body?: unknown): Promise<unknown> {
        const csrf = /MMCSRF=([^;]*)/.exec(document.cookie)?.[1] ?? '';
        const answer = await fetch(`${this.site}/api/v4${route}`, {
            method,
            headers: {'X-CSRF-Token': csrf, 'X-Requested-With': 'XMLHttpRequest'},
            body: body === undefined ? null : JSON.stringify(body),
        });
        if (!answer.ok) {
            throw new Error(`${method} ${route}: ${answer.status}`);
        }
        return answer.json();
    }
}
