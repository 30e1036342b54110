import type {Browser, Locator} from 'playwright-core';
import {afterAll, afterEach, beforeAll, describe, expect, it} from 'vitest';

import {Site, type Person} from './site';
import {launch, WebClient, type Options, type Theme} from './webClient';

const site = new Site();
let browser: Browser;
let person: Person;
let client: WebClient | undefined;

/** What the person has posted: a link to a file, a copy of it, and a post that claims to be a card. */
const made = {link: '', copy: '', forged: ''};

beforeAll(async () => {
    browser = await launch();
    person = await site.createPerson();
    await site.joinChannel(person);
    const web = await WebClient.open(browser, site, person);
    await web.openDialog();
    await web.connect();

    const attach = async (as: string, message: string) => {
        const body = {channel_id: site.channelId, as, message, items: [{path: '/Kinds/picture.png'}]};
        return String((await web.call('/plugins/filehost-attach/api/attach', body)).post_id);
    };
    made.link = await attach('link', 'Have a look:');
    made.copy = await attach('copy', '');
    const forged = {channel_id: site.channelId, type: 'custom_filehost_card', message: '[Salaries.ods](https://evil.example.com/x) from the boss', props: {filehost_card: 'x'}};
    made.forged = String((await web.call('/api/v4/posts', forged)).id);
    await web.close();
});

afterEach(async () => {
    await client?.close();
    client = undefined;
});

afterAll(async () => {
    await browser.close();
});

async function open(options: Options = {}): Promise<WebClient> {
    client = await WebClient.open(browser, site, person, {posts: [made.link, made.copy, made.forged], ...options});
    return client;
}

const post = ({page}: WebClient, id: string): Locator => page.locator(`[data-post="${id}"]`);

describe.each<{theme: Theme; width: number}>([
    {theme: 'light', width: 1024},
    {theme: 'dark', width: 1024},
    {theme: 'light', width: 360},
])('in $theme colours, $width px wide', ({theme, width}) => {
    it('a post with a link is a card, and one that claims to be is its text', async () => {
        const web = await open({theme, width});
        const card = post(web, made.link);
        await card.getByRole('listitem').waitFor();
        expect(await card.getByRole('link', {name: 'Open picture.png'}).getAttribute('href')).toMatch(/^http/);
        expect(await card.textContent()).toContain('Have a look:');

        const forged = post(web, made.forged);
        expect(await forged.textContent()).toContain('from the boss');
        expect(await forged.getByRole('link').count()).toBe(0);
        expect(await forged.getByRole('listitem').count()).toBe(0);
        await web.inspect(`card-${theme}-${width}`);
    });

    it('files are saved in a new folder of the host', async () => {
        const web = await open({theme, width});
        await post(web, made.copy).getByRole('button', {name: 'more', exact: true}).click();
        await post(web, made.copy).getByRole('button', {name: /^Save to/}).click();
        await web.files.waitFor();
        await web.inspect(`save-${theme}-${width}`);

        await web.button('New folder').click();
        await web.dialog.getByLabel('Name of the new folder').fill(`Saved ${theme} ${width}`);
        await web.button('Create').click();
        await web.dialog.getByText('No folders in here').waitFor();
        await web.button('Save here').click();
        await web.dialog.getByRole('heading', {name: '1 of 1 saved'}).waitFor();
        await web.inspect(`saved-${theme}-${width}`);
        await web.button('Done').click();
        await web.dialog.waitFor({state: 'detached'});
    });

    it('a post is checked for newer versions', async () => {
        const web = await open({theme, width});
        await post(web, made.copy).getByRole('button', {name: 'more', exact: true}).click();
        await post(web, made.copy).getByRole('button', {name: 'Check for a newer version'}).click();
        await web.dialog.getByText('The files are as they were posted.').waitFor();
        await web.inspect(`newer-${theme}-${width}`);
    });

    it('the settings show the account', async () => {
        const web = await open({theme, width, settings: true, posts: []});
        const settings = web.page.getByRole('complementary', {name: 'Settings'});
        await settings.getByText('Connected since').waitFor();
        await web.inspect(`account-${theme}-${width}`);
        await settings.getByRole('button', {name: 'Disconnect'}).click();
        await settings.getByRole('button', {name: 'Stay connected'}).waitFor();
        await web.inspect(`disconnect-${theme}-${width}`);
    });
});
