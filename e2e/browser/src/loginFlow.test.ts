import type {Browser} from 'playwright-core';
import {afterAll, afterEach, beforeAll, describe, expect, it} from 'vitest';

import {Site} from './site';
import {allowAccess, launch, WebClient, type Options, type Theme} from './webClient';

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
async function open(email?: string, options?: Options): Promise<WebClient> {
    client = await WebClient.open(browser, site, await site.createPerson(email), options);
    return client;
}

describe.each<{theme: Theme; width: number}>([
    {theme: 'light', width: 1024},
    {theme: 'dark', width: 1024},
    {theme: 'light', width: 360},
])("Nextcloud's login flow, in $theme colours, $width px wide", ({theme, width}) => {
    it('shows the account and connects it when its user says so', async () => {
        await site.withLoginFlow({loginflowanyemail: true, signinfallbacks: 'password'}, async () => {
            const web = await open(undefined, {theme, width});
            const look = (name: string) => web.inspect(`login-flow-${name}-${theme}-${width}`);

            await web.openDialog();
            await web.button('Connect to Company Cloud').waitFor();
            await look('offer');
            const page = await web.beginSignIn();
            await look('waiting');
            await allowAccess(page, site.hostAccount);
            expect(await page.evaluate(() => window.opener === null)).toBe(true);
            await page.close();

            await web.button('Connect this account').waitFor();
            await web.dialog.getByText('Alice Ämne', {exact: true}).waitFor();
            await web.dialog.getByText('alice@example.com', {exact: true}).waitFor();
            await look('pending');
            await web.button('Connect this account').click();
            await web.openAccount();
            await look('connected');
            await web.button('Disconnect').click();
            await web.button('Connect to Company Cloud').waitFor();
        });
    });
});

describe("Nextcloud's login flow", () => {
    it('connects nothing when the account is not his who signed in', async () => {
        await site.withLoginFlow({loginflowanyemail: true}, async () => {
            const web = await open();
            await web.openDialog();
            const page = await web.beginSignIn();
            await allowAccess(page, site.hostAccount);
            await web.button('Not me').click();
            await web.button('Connect to Company Cloud').waitFor();
            await web.page.reload();
            await web.openDialog();
            await web.button('Connect to Company Cloud').waitFor();
        });
    });

    it('connects who has the same address on both sides', async () => {
        await site.withLoginFlow({}, async () => {
            const web = await open('alice@example.com');
            await web.openDialog();
            const page = await web.beginSignIn();
            await allowAccess(page, site.hostAccount);
            await web.button('Connect this account').click();
            await web.openAccount();
        });
    });

    it('refuses an account with another address, and says so', async () => {
        await site.withLoginFlow({signinfallbacks: 'password'}, async () => {
            const web = await open();
            await web.openDialog();
            const page = await web.beginSignIn();
            await allowAccess(page, site.hostAccount);
            await web.dialog.getByRole('alert').getByText('has another email address').waitFor();
            await web.inspect('login-flow-refused');
            await web.dialog.getByLabel('User name').waitFor();
        });
    });

    it('goes on with the app password that its user types instead', async () => {
        await site.withLoginFlow({signinfallbacks: 'password'}, async () => {
            const web = await open();
            await web.openDialog();
            await web.button('User name and app password').click();
            await web.inspect('password-chosen');
            await web.dialog.getByLabel('User name').fill(site.hostAccount.username);
            await web.dialog.getByLabel('App password').fill(site.hostAccount.password);
            await web.button(/^Connect to/).click();
            await web.openAccount();
        });
    });
});
