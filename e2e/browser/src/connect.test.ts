import type {Browser} from 'playwright-core';
import {afterAll, afterEach, beforeAll, describe, expect, it} from 'vitest';

import {Site} from './site';
import {launch, signIn, WebClient, type Options, type Theme} from './webClient';

const site = new Site();
let browser: Browser;
let client: WebClient | undefined;

beforeAll(async () => {
    browser = await launch();
});

afterEach(async () => {
    await client?.close();
    client = undefined;
});

afterAll(async () => {
    await browser.close();
});

/** Opens the page as somebody who has never connected. */
async function open(options?: Options): Promise<WebClient> {
    client = await WebClient.open(browser, site, await site.createPerson(), options);
    return client;
}

describe.each<{theme: Theme; width: number}>([
    {theme: 'light', width: 1024},
    {theme: 'dark', width: 1024},
    {theme: 'light', width: 360},
])('in $theme colours, $width px wide', ({theme, width}) => {
    it('connects on the sign-in page of the host, shows as whom, and disconnects', async () => {
        const web = await open({theme, width});
        const look = (name: string) => web.inspect(`${name}-${theme}-${width}`);

        await web.page.getByRole('button', {name: 'attachment'}).click();
        await web.page.getByRole('link', {name: 'Attach from Embedded Files'}).waitFor();
        await look('menu');
        await web.page.getByRole('link', {name: 'Attach from'}).click();
        await web.button('Connect to Embedded Files').waitFor();
        await look('not-connected');

        const page = await web.beginSignIn();
        await look('waiting');
        await signIn(page, site.hostAccount);
        await web.openAccount();
        await web.dialog.getByText(site.hostAccount.username, {exact: true}).waitFor();
        await look('connected');

        await web.button('Disconnect').click();
        await web.button('Connect to Embedded Files').waitFor();
    });
});

describe('the connect dialog', () => {
    it('remembers the connection when the page is loaded again', async () => {
        const web = await open();
        await web.openDialog();
        await web.connect();

        await web.page.reload();
        await web.openDialog();
        await web.openAccount();
        await web.dialog.getByText(site.hostAccount.username, {exact: true}).waitFor();
    });

    it('works in the web client of an old server, which has React 17', async () => {
        const web = await open({react: 17});
        await web.openDialog();
        await web.connect();
        await web.openAccount();
        await web.button('Disconnect').click();
        await web.button('Connect to Embedded Files').waitFor();
    });

    it('takes the code that a sign-in in another browser shows', async () => {
        const web = await open();
        await web.openDialog();
        const page = await web.beginSignIn();
        const address = await web.dialog.getByRole('link', {name: 'Open the sign-in page again'}).getAttribute('href');
        await page.close();

        const elsewhere = await browser.newContext();
        const stranger = await elsewhere.newPage();
        await stranger.goto(address ?? '');
        await signIn(stranger, site.hostAccount);
        const code = await stranger.locator('code').textContent();
        await elsewhere.close();

        await web.dialog.getByLabel('Code').fill('WRONG');
        await web.button('Confirm').click();
        await web.dialog.getByRole('alert').waitFor();
        await web.inspect('wrong-code');

        await web.dialog.getByLabel('Code').fill(code ?? '');
        await web.button('Confirm').click();
        await web.openAccount();
        await web.dialog.getByText(site.hostAccount.username, {exact: true}).waitFor();
    });

    it('needs no mouse', async () => {
        const web = await open();
        const {keyboard} = web.page;

        await web.page.getByLabel('Write to Town Square').focus();
        await keyboard.press('Tab');
        await keyboard.press('Enter');
        await keyboard.press('Tab');
        await keyboard.press('Enter');

        const connectButton = web.button('Connect to Embedded Files');
        await connectButton.waitFor();
        for (let press = 0; press < 8; press++) {
            await keyboard.press('Tab');
            expect(await web.dialog.evaluate((dialog) => dialog.contains(document.activeElement))).toBe(true);
        }

        await connectButton.focus();
        const opening = web.context.waitForEvent('page');
        await keyboard.press('Enter');
        const page = await opening;
        await page.getByLabel('User name').and(page.locator(':focus')).waitFor();
        await page.keyboard.type(site.hostAccount.username);
        await page.keyboard.press('Tab');
        await page.keyboard.type(site.hostAccount.password);
        await page.keyboard.press('Enter');
        await web.files.and(web.page.locator(':focus')).waitFor();
        await page.close();

        await keyboard.press('Escape');
        await web.dialog.waitFor({state: 'detached'});
        expect(await web.page.getByLabel('Write to Town Square').evaluate((editor) => editor === document.activeElement)).toBe(true);
    });

    it('says that the server cannot be reached, and tries again', async () => {
        const web = await open();
        await web.page.getByRole('button', {name: 'attachment'}).click();
        await web.page.getByRole('link', {name: 'Attach from Embedded Files'}).waitFor();

        await web.page.route('**/api/connection', (route) => route.abort());
        await web.page.getByRole('link', {name: 'Attach from'}).click();
        await web.dialog.getByText('The server could not be reached.').waitFor();
        await web.inspect('offline');

        await web.page.unroute('**/api/connection');
        await web.button('Try again').click();
        await web.button('Connect to Embedded Files').waitFor();
    });

    it('connects with an app password where the admin chose that', async () => {
        const web = await open();
        await site.withSettings({signin: 'password'}, async () => {
            await web.openDialog();
            await web.dialog.getByLabel('User name').fill(site.hostAccount.username);
            await web.dialog.getByLabel('App password').fill('not this one');
            await web.button(/^Connect to/).click();
            await web.dialog.getByRole('alert').waitFor();
            await web.inspect('wrong-password');

            await web.dialog.getByLabel('App password').fill(site.hostAccount.password);
            await web.button(/^Connect to/).click();
            await web.openAccount();
            await web.dialog.getByText(site.hostAccount.username, {exact: true}).waitFor();
        });
    });

    it('sends people to the admin while settings are missing', async () => {
        const web = await open();
        await site.withSettings({hosturl: ''}, async () => {
            await web.openDialog();
            await web.dialog.getByText('Please ask your system admin.').waitFor();
            await web.inspect('not-configured');
        });
    });
});
