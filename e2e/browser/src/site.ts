import {randomBytes} from 'node:crypto';

/** Settings of the plugin, by their names in lower case. */
export type Settings = Record<string, unknown>;

/** A person with an account on the Mattermost server. */
export type Person = {id: string; username: string; password: string};

/** The account at the file host that people connect to. */
export type HostAccount = {username: string; password: string};

/**
 * The running Mattermost server, as its admin sees it. Its address is that of a proxy, which holds
 * all that a browser and the plugin send each other to the contract in assets/openapi.yaml.
 */
export class Site {
    readonly url = fromEnvironment('SITE_URL').replace(/\/$/, '');
    readonly hostAccount: HostAccount = {username: fromEnvironment('FILEHOST_USER'), password: fromEnvironment('FILEHOST_PASSWORD')};

    /** A Nextcloud with the same account, whose address is alice@example.com. */
    readonly nextcloudUrl = fromEnvironment('NEXTCLOUD_URL');

    /** A channel of the team that the stack has. */
    readonly channelId = fromEnvironment('CHANNEL_ID');

    readonly #adminToken = fromEnvironment('ADMIN_TOKEN');

    /** Creates an account that nobody has used yet, with an address that Mattermost has verified. */
    async createPerson(email?: string): Promise<Person> {
        const name = `browser${randomBytes(6).toString('hex')}`;
        const person = {username: name, password: `Pw-${randomBytes(12).toString('hex')}`};
        const {id} = await this.#call('POST', '/users', {...person, email: email ?? `${name}@example.com`}) as {id: string};
        await this.#call('POST', `/users/${id}/email/verify/member`);
        return {id, ...person};
    }

    /** Makes somebody a member of the team that the stack has. */
    async joinTeam({id: user}: Person): Promise<void> {
        const {id: team} = await this.#call('GET', '/teams/name/team') as {id: string};
        await this.#call('POST', `/teams/${team}/members`, {team_id: team, user_id: user});
    }

    /** Makes somebody a member of the team and of its channel. */
    async joinChannel(person: Person): Promise<void> {
        await this.joinTeam(person);
        await this.#call('POST', `/channels/${this.channelId}/members`, {user_id: person.id});
    }

    /** The channel in which two people write to each other. */
    async directChannel(one: Person, other: Person): Promise<string> {
        const {id} = await this.#call('POST', '/channels/direct', [one.id, other.id]) as {id: string};
        return id;
    }

    /** Begins a thread in the channel, and tells its first post. */
    async beginThread(): Promise<string> {
        const {id} = await this.#call('POST', '/posts', {channel_id: this.channelId, message: 'A question'}) as {id: string};
        return id;
    }

    /** The names of the files of the posts of a channel, post by post, the newest first. */
    async postedFiles(channel: string): Promise<string[][]> {
        const {order, posts} = await this.#call('GET', `/channels/${channel}/posts`) as {order: string[]; posts: Record<string, {metadata: {files?: {name: string}[]}}>};
        return order.map((id) => (posts[id]?.metadata.files ?? []).map(({name}) => name)).filter((names) => names.length > 0);
    }

    /** Runs `work` while the members of the team use one account of the host's, and the others can type an app password. */
    async withServiceAccount(work: () => Promise<void>): Promise<void> {
        await this.withSettings({
            signin: 'service_account', serviceaccountuser: this.hostAccount.username, serviceaccountsecret: this.hostAccount.password,
            automaticfor: 'team:team', signinfallbacks: 'password',
        }, work);
    }

    /** Runs `work` while the file host is the Nextcloud, which people connect to by its Login Flow v2. */
    async withLoginFlow(changed: Settings, work: () => Promise<void>): Promise<void> {
        await this.withSettings({
            hostkind: 'nextcloud', hosturl: this.nextcloudUrl, hostname: 'Company Cloud', oauthissuer: '', oauthscopes: '', signin: 'login_flow', ...changed,
        }, work);
    }

    /** Runs `work` while the plugin has other settings. */
    async withSettings(changed: Settings, work: () => Promise<void>): Promise<void> {
        const before = await this.#settings();
        await this.#configure({...before, ...changed});
        try {
            await work();
        } finally {
            await this.#configure(before);
        }
    }

    async #settings(): Promise<Settings> {
        const config = await this.#call('GET', '/config') as {PluginSettings: {Plugins: Record<string, Settings>}};
        return config.PluginSettings.Plugins['filehost-attach'] ?? {};
    }

    async #configure(settings: Settings): Promise<void> {
        await this.#call('PUT', '/config/patch', {PluginSettings: {Plugins: {'filehost-attach': settings}}});
    }

    async #call(method: string, route: string, body?: unknown): Promise<unknown> {
        const answer = await fetch(`${this.url}/api/v4${route}`, {
            method,
            headers: {Authorization: `Bearer ${this.#adminToken}`},
            body: body === undefined ? null : JSON.stringify(body),
        });
        if (!answer.ok) {
            throw new Error(`${method} ${route}: ${answer.status} ${await answer.text()}`);
        }
        return answer.json();
    }
}

function fromEnvironment(name: string): string {
    const value = process.env[name];
    if (!value) {
        throw new Error(`${name} is missing: these tests run against a stack, see make browser`);
    }
    return value;
}
