import type {Browser} from 'playwright-core';
import {afterAll, afterEach, beforeAll, describe, it} from 'vitest';

import {Site, type Person} from './site';
import {launch, WebClient, type Options, type Theme} from './webClient';

const site = new Site();
let browser: Browser;
let person: Person;
let client: WebClient | undefined;

beforeAll(async () => {
    browser = await launch();

    // One person who is connected, for all tests that don't change that.
    person = await site.createPerson();
    await site.joinChannel(person);
    const web = await WebClient.open(browser, site, person);
    await web.openDialog();
    await web.connect();
    await web.close();
});

afterEach(async () => {
    await client?.close();
    client = undefined;
});

afterAll(async () => {
    await browser.close();
});

/** Opens the page as somebody who is connected. */
async function open(options?: Options): Promise<WebClient> {
    client = await WebClient.open(browser, site, person, options);
    return client;
}

/** Opens the picker. */
async function openPicker(options?: Options): Promise<WebClient> {
    const web = await open(options);
    await web.openDialog();
    await web.files.waitFor();
    return web;
}

describe.each<{theme: Theme; width: number}>([
    {theme: 'light', width: 1024},
    {theme: 'dark', width: 1024},
    {theme: 'light', width: 360},
    {theme: 'dark', width: 360},
])('the picker in $theme colours, $width px wide', ({theme, width}) => {
    it('shows files as a list and as tiles, what is chosen and what can be', async () => {
        const web = await openPicker({theme, width});
        const look = (name: string) => web.inspect(`picker-${name}-${theme}-${width}`);
        await look('list');

        await web.entry('Kinds').click();
        await web.entry('picture.png').waitFor();
        await look('folder');
        await web.button('Tiles').click();
        await look('tiles');
    });
});
