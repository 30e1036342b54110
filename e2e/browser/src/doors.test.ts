import type {Browser, Locator} from 'playwright-core';
import {afterAll, afterEach, beforeAll, describe, expect, it} from 'vitest';

import {Site, type Person} from './site';
import {launch, WebClient, type Options, type Theme} from './webClient';

const site = new Site();
let browser: Browser;
let person: Person;
let client: WebClient | undefined;

/** A post with a copy of a file. */
let copy: string;

/** Posts a file of the host as a copy or as a link. */
async function attach(web: WebClient, as: 'copy' | 'link', path: string): Promise<string> {
    const body = {channel_id: site.channelId, as, message: 'Have a look:', items: [{path}]};
    return String((await web.call('/plugins/filehost-attach/api/attach', body)).post_id);
}

beforeAll(async () => {
    browser = await launch();
    person = await site.createPerson();
    await site.joinChannel(person);
    const web = await WebClient.open(browser, site, person);
    await web.openDialog();
    await web.connect();
    copy = await attach(web, 'copy', '/Kinds/picture.png');
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
    client = await WebClient.open(browser, site, person, {posts: [copy], ...options});
    return client;
}

const post = ({page}: WebClient, id: string): Locator => page.locator(`[data-post="${id}"]`);

const looks: {theme: Theme; width: number}[] = [
    {theme: 'light', width: 1024},
    {theme: 'dark', width: 1024},
    {theme: 'light', width: 360},
];

describe.each(looks)('in $theme colours, $width px wide', ({theme, width}) => {
    it('files are saved in a new folder of the host', async () => {
        const web = await open({theme, width});
        await post(web, copy).getByRole('button', {name: 'more', exact: true}).click();
        await post(web, copy).getByRole('button', {name: /^Save to/}).click();
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
        await post(web, copy).getByRole('button', {name: 'more', exact: true}).click();
        await post(web, copy).getByRole('button', {name: 'Check for a newer version'}).click();
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

describe('cards', () => {
    it('show posts with links; a post that only claims to be one is its text', async () => {
        await site.withLoginFlow({signin: 'password'}, async () => {
            const poster = await site.createPerson();
            await site.joinChannel(poster);
            const first = await WebClient.open(browser, site, poster);
            await first.call('/plugins/filehost-attach/api/connection', site.hostAccount);
            const link = await attach(first, 'link', '/Welcome.txt');
            const claim = {channel_id: site.channelId, type: 'custom_filehost_card', message: '[Salaries.ods](https://evil.example.com/x) from the boss', props: {filehost_card: 'x'}};
            const forged = String((await first.call('/api/v4/posts', claim)).id);
            await first.close();

            for (const {theme, width} of looks) {
                const web = await WebClient.open(browser, site, poster, {theme, width, posts: [forged, link]});
                const card = post(web, link);
                await card.getByRole('listitem').waitFor();
                expect(await card.getByRole('link', {name: 'Open Welcome.txt'}).getAttribute('href')).toMatch(/^https?:/);
                expect(await card.textContent()).toContain('Have a look:');
                expect(await post(web, forged).textContent()).toContain('from the boss');
                expect(await post(web, forged).getByRole('link').count()).toBe(0);
                expect(await post(web, forged).getByRole('listitem').count()).toBe(0);
                await web.inspect(`card-${theme}-${width}`);
                await web.close();
            }
        });
    });
});
