import {existsSync} from 'node:fs';
import {delimiter, join} from 'node:path';

import AxeBuilder from '@axe-core/playwright';
import {chromium, type Browser, type BrowserContext, type Locator, type Page} from 'playwright-core';
import {expect} from 'vitest';

import type {HostAccount, Person, Site} from './site';

/** The browser of this machine: the one that CHROMIUM names, else one of the search path or of macOS. */
function findBrowser(): string {
    const folders = (process.env.PATH ?? '').split(delimiter);
    const candidates = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) => folders.map((folder) => join(folder, name)));
    const found = [process.env.CHROMIUM, ...candidates, '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome']
        .find((path) => path !== undefined && existsSync(path));
    if (found === undefined) {
        throw new Error('There is no Chromium here; set CHROMIUM to the path of one.');
    }
    return found;
}

/** The colours of the page. */
export type Theme = 'light' | 'dark';

/** How the page differs from the usual one. */
export type Options = {
    theme?: Theme;
    width?: number;
    height?: number;
    react?: 17 | 18;
    locale?: string;

    /** How the toolbar of the channel's editor shows the components of plugins. */
    toolbar?: 'wide' | 'narrow' | 'hidden';

    /** The first post of a thread that is open beside the channel. */
    thread?: string;

    /** The channel; by default the one that the stack has. */
    channel?: string;
    forcedColors?: boolean;

    /** Posts that are there already. */
    posts?: string[];

    /** Whether the user's settings are open. */
    settings?: boolean;
};

/** Starts the browser of this machine. */
export async function launch(): Promise<Browser> {
    return chromium.launch({
        executablePath: findBrowser(),
        chromiumSandbox: process.getuid?.() !== 0,
        args: [
            '--disable-background-networking',
            '--disable-component-update',

            // A page that a test puts in has no address, so that all of loopback would be foreign to it.
            '--disable-features=LocalNetworkAccessChecks',
            '--disable-gpu',
            '--disable-quic',
            '--disable-sync',
            '--no-first-run',
        ],
    });
}

/**
 * A person's browser with the host page open. The page is put in at an address of
 * the real server, so that session, CSRF token, plugin and events are the real ones.
 */
export class WebClient {
    readonly #problems: string[] = [];

    private constructor(readonly context: BrowserContext, readonly page: Page, readonly site: Site) {
        page.on('pageerror', (error) => this.#problems.push(error.message));
        page.on('console', (message) => {
            // A refused call is reported as an error by the browser itself, too; tests see it on the page.
            if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
                this.#problems.push(message.text());
            }
        });
    }

    /** Logs the person in and opens the page. */
    static async open(browser: Browser, site: Site, person: Person, options: Options = {}): Promise<WebClient> {
        const {width = 1024, height = 640, forcedColors = false} = options;
        const context = await browser.newContext({viewport: {width, height}, locale: 'en-US', reducedMotion: 'reduce', forcedColors: forcedColors ? 'active' : 'none'});
        await servePage(context, site, options);
        context.setDefaultTimeout(10_000);
        const page = await context.newPage();
        const client = new WebClient(context, page, site);

        const login = await context.request.post(`${site.url}/api/v4/users/login`, {
            data: {login_id: person.username, password: person.password},
            headers: {'X-Requested-With': 'XMLHttpRequest'},
        });
        expect(login.status()).toBe(200);
        await page.goto(`${site.url}/host-page/`);
        return client;
    }

    /** Closes the browser and fails if the page reported an error. */
    async close(): Promise<void> {
        await this.context.close();
        expect(this.#problems).toEqual([]);
    }

    /** The dialog, whatever it shows. */
    get dialog(): Locator {
        return this.page.getByRole('dialog');
    }

    /** The list of files. */
    get files(): Locator {
        return this.dialog.getByRole('grid');
    }

    /** A file or a folder in the list. */
    entry(name: string): Locator {
        return this.files.locator('.filehost-attach__item').filter({has: this.page.getByText(name, {exact: true})});
    }

    /** The names of the files that the message has. */
    async chips(): Promise<string[]> {
        return this.page.getByRole('list', {name: 'Attached files', includeHidden: true}).locator('li > span').allTextContents();
    }

    /** Opens the dialog from the paperclip menu of the channel's editor. */
    async openDialog(): Promise<void> {
        const editor = this.page.locator('#create_post');
        await editor.getByRole('button', {name: 'attachment'}).click();
        await editor.getByRole('link', {name: 'Attach from'}).click();
        await this.dialog.waitFor();
    }

    /** Shows as whom the user is connected. */
    async openAccount(): Promise<void> {
        await this.button(/^Your account at/).click();
        await this.button('Disconnect').waitFor();
    }

    /** Calls the plugin or the server as the user who is logged in. */
    async call(route: string, body: Record<string, unknown>): Promise<Record<string, unknown>> {
        const csrf = (await this.context.cookies()).find(({name}) => name === 'MMCSRF')?.value ?? '';
        const answer = await this.context.request.post(`${this.site.url}${route}`, {
            data: body,
            headers: {'X-CSRF-Token': csrf, 'X-Requested-With': 'XMLHttpRequest'},
        });
        expect(answer.ok(), await answer.text()).toBe(true);
        return await answer.json() as Record<string, unknown>;
    }

    button(name: string | RegExp): Locator {
        return this.dialog.getByRole('button', {name});
    }

    /** Begins a sign-in and gives back the window that opens. */
    async beginSignIn(): Promise<Page> {
        const opening = this.context.waitForEvent('page');
        await this.button(/^Connect to/).click();
        const signIn = await opening;
        await this.dialog.getByRole('link', {name: 'Open the sign-in page again'}).waitFor();
        return signIn;
    }

    /** Connects through the sign-in page of the host, and goes on to its files. */
    async connect(): Promise<void> {
        const page = await this.beginSignIn();
        await signIn(page, this.site.hostAccount);
        await this.files.waitFor();
        await page.close();
    }

    /** Looks at the page as a person and as axe does. */
    async inspect(name: string): Promise<void> {
        await this.page.screenshot({path: `screenshots/${name}.png`, animations: 'disabled'});
        const {violations} = await new AxeBuilder({page: this.page}).analyze();
        expect(violations.map(({id, nodes}) => `${id}: ${nodes.map((node) => node.html).join(' ')}`)).toEqual([]);
    }
}

/** Goes through the pages of Nextcloud's Login Flow v2, up to the last. */
export async function allowAccess(page: Page, account: HostAccount): Promise<void> {
    await page.getByRole('link', {name: 'Log in'}).click();
    await page.getByLabel('Account name or email').fill(account.username);
    await page.getByLabel('Password').fill(account.password);
    await page.getByRole('button', {name: 'Log in'}).click();
    await page.getByRole('button', {name: 'Grant access'}).click();
    await page.getByRole('heading', {name: 'Account connected'}).waitFor();
}

/** Fills in the sign-in form of the file host. */
export async function signIn(page: Page, account: HostAccount): Promise<void> {
    await page.getByLabel('User name').fill(account.username);
    await page.getByLabel('Password').fill(account.password);
    await page.getByRole('button', {name: 'Sign in'}).click();
}

/** Answers for the host page, with the policy for scripts that the server gives its own pages. */
async function servePage(context: BrowserContext, site: Site, {theme = 'light', react = 18, locale = 'en', toolbar = 'wide', thread = '', channel = site.channelId, posts = [], settings = false}: Options): Promise<void> {
    const html = `<!doctype html>
<html lang="${locale}" data-site="${site.url}" data-theme="${theme}" data-locale="${locale}" data-toolbar="${toolbar}" data-channel="${channel}" data-thread="${thread}" data-posts="${posts.join(' ')}" data-settings="${settings ? 'open' : ''}">
<head><meta charset="utf-8"><title>Host page</title><link rel="stylesheet" href="host.css"></head>
<body><script src="react-${react}.js"></script></body>
</html>`;
    await context.route(`${site.url}/host-page/*`, (route) => route.fulfill({path: `dist${new URL(route.request().url()).pathname.replace('/host-page', '')}`}));
    await context.route(`${site.url}/host-page/`, (route) => route.fulfill({
        contentType: 'text/html; charset=utf-8',
        headers: {'Content-Security-Policy': "script-src 'self'"},
        body: html,
    }));
}
