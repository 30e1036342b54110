import type {Browser} from 'playwright-core';
import {afterAll, afterEach, beforeAll, describe, expect, it} from 'vitest';

import {Site} from './site';
import {launch, WebClient, type Theme} from './webClient';

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

describe.each<{theme: Theme}>([{theme: 'light'}, {theme: 'dark'}])('access without signing in, in $theme colours', ({theme}) => {
    it('is there without a click for whom the admin lets, and not again after he has disconnected', async () => {
        await site.withServiceAccount(async () => {
            const person = await site.createPerson();
            await site.joinTeam(person);
            const web = await WebClient.open(browser, site, person, {theme});
            client = web;
            await web.openDialog();
            await web.openAccount();
            expect(web.context.pages()).toHaveLength(1);
            await web.inspect(`automatic-connected-${theme}`);

            await web.button('Disconnect').click();
            await web.button('Connect to Embedded Files').waitFor();
            await web.page.reload();
            await web.openDialog();
            await web.button('Connect to Embedded Files').waitFor();
            await web.inspect(`automatic-declined-${theme}`);
            await web.button('Connect to Embedded Files').click();
            await web.openAccount();
        });
    });

    it('is refused to others with the reason, and the next way is offered', async () => {
        await site.withServiceAccount(async () => {
            const web = await WebClient.open(browser, site, await site.createPerson(), {theme});
            client = web;
            await web.openDialog();
            await web.dialog.getByRole('alert').getByText('Embedded Files could not be connected without signing in (Shared account).').waitFor();
            await web.inspect(`automatic-refused-${theme}`);
            await web.dialog.getByLabel('User name').fill(site.hostAccount.username);
            await web.dialog.getByLabel('App password').fill(site.hostAccount.password);
            await web.button(/^Connect to/).click();
            await web.openAccount();
            await web.dialog.getByText(site.hostAccount.username, {exact: true}).waitFor();
        });
    });
});
