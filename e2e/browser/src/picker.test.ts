import type {Browser} from 'playwright-core';
import {afterAll, afterEach, beforeAll, describe, expect, it} from 'vitest';

import {Site, type Person} from './site';
import {allowAccess, launch, WebClient, type Options, type Theme} from './webClient';

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

/** Opens the page as somebody who is connected, with nothing remembered. */
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
    const options = {theme, width};
    const name = (state: string) => `picker-${state}-${theme}-${width}`;

    it('shows files as a list and as tiles, and what is chosen', async () => {
        const web = await openPicker(options);
        await web.inspect(name('list'));
        await web.entry('Kinds').click();
        await web.entry('letter.pdf').click();
        await web.entry('5 MiB.bin').click();
        await web.button('2 of 10 files').waitFor();
        await web.inspect(name('chosen'));
        await web.button('Tiles').click();
        await web.entry('letter.pdf').waitFor();
        await web.inspect(name('tiles'));
        await web.button('2 of 10 files').click();
        await web.inspect(name('review'));
    });

    it('shows that it loads, that nothing is there, and what went wrong', async () => {
        const web = await openPicker(options);
        let release: () => void = () => undefined;
        const held = new Promise<void>((resolve) => {
            release = resolve;
        });
        await web.page.route('**/api/files?*', async (route) => {
            await held;
            await route.continue();
        });
        await web.entry('Kinds').click();
        await web.dialog.locator('.filehost-attach__skeleton').waitFor();
        await web.inspect(name('loading'));
        release();
        await web.entry('letter.pdf').waitFor();
        await web.page.unroute('**/api/files?*');

        await web.dialog.getByLabel('Kind of files').selectOption('video');
        await web.dialog.getByText('Nothing of this kind here').waitFor();
        await web.inspect(name('empty'));

        await web.page.route('**/api/files?*', (route) => route.fulfill({
            status: 502,
            json: {id: 'filehost.host_unavailable', code: 'host_unavailable', message: 'Unavailable.', status_code: 502, request_id: 'req-42'},
        }));
        await web.dialog.getByLabel('Kind of files').selectOption('all');
        await web.dialog.getByText('Embedded Files can’t be reached').waitFor();
        await web.dialog.getByText('req-42').waitFor();
        await web.inspect(name('failed'));
        await web.page.unroute('**/api/files?*');
        await web.button('Try again').click();
        await web.entry('letter.pdf').waitFor();
    });

    it('shows what becomes of each file, and tries again what has failed', async () => {
        const web = await openPicker(options);
        await web.entry('Welcome.txt').click();
        await web.entry('Kinds').click();
        await web.entry('letter.pdf').click();
        await web.entry('note.txt').click();

        let release: () => void = () => undefined;
        const held = new Promise<void>((resolve) => {
            release = resolve;
        });
        await web.page.route('**/api/attach', async (route, request) => {
            await held;
            const first = (request.headers()['idempotency-key'] ?? '') === firstKey;
            await (first ? route.abort() : route.continue());
        });
        let firstKey: string | undefined;
        web.page.on('request', (request) => {
            if (request.url().endsWith('/api/attach')) {
                firstKey ??= request.headers()['idempotency-key'];
            }
        });
        await web.button('Attach 3 files').click();
        await web.dialog.getByRole('heading', {name: 'Attaching 3 files'}).waitFor();
        await web.inspect(name('copying'));
        await web.button('Cancel note.txt').click();
        release();
        await web.dialog.getByText('1 file could not be attached.').waitFor();
        await web.inspect(name('partly'));
        expect(await web.chips()).toEqual(['letter.pdf']);

        await web.page.unroute('**/api/attach');
        await web.button('Try Welcome.txt again').click();
        await web.button('Try note.txt again').click();
        await web.dialog.waitFor({state: 'detached'});
        expect((await web.chips()).sort()).toEqual(['Welcome.txt', 'letter.pdf', 'note.txt']);
        await web.inspect(name('attached'));
    });
});

describe('the picker', () => {
    it('puts three files of three folders into the message in at most eight clicks, and sends nothing before the user does', async () => {
        const web = await open();
        const before = (await site.postedFiles(site.channelId)).length;
        let clicks = 0;
        const click = async (target: ReturnType<WebClient['button']>) => {
            clicks++;
            await target.click();
        };
        await web.page.getByLabel('Write to Town Square').fill('The plans:');
        await click(web.page.locator('#create_post').getByRole('button', {name: 'Attach from Embedded Files'}));
        await click(web.entry('Welcome.txt'));
        await click(web.entry('Kinds'));
        await click(web.entry('letter.pdf'));
        await click(web.dialog.getByRole('navigation', {name: 'Folders'}).getByRole('button'));
        await click(web.entry('Hostile names'));
        await click(web.entry('100% done.txt'));
        await web.button('3 of 10 files').waitFor();
        await click(web.button('Attach 3 files'));
        await web.dialog.waitFor({state: 'detached'});
        expect(clicks).toBeLessThanOrEqual(8);

        const files = ['Welcome.txt', 'letter.pdf', '100% done.txt'];
        expect(await web.chips()).toEqual(files);
        expect(await web.page.getByLabel('Write to Town Square').inputValue()).toBe('The plans:');
        expect(await site.postedFiles(site.channelId)).toHaveLength(before);

        await web.page.getByRole('button', {name: 'Send'}).click();
        await web.page.getByRole('list', {name: 'Posts'}).getByText('The plans:').waitFor();
        const [posted] = (await site.postedFiles(site.channelId)).filter((names) => names.includes('100% done.txt'));
        expect(posted?.sort()).toEqual(files.sort());
    });

    it('needs no mouse', async () => {
        const web = await open();
        const {keyboard} = web.page;
        const current = (name: string) => web.files.locator('.is-current').getByText(name, {exact: true}).waitFor();

        await web.page.getByLabel('Write to Town Square').focus();
        await keyboard.press('Control+Alt+KeyO');
        await current('Hostile names');
        await keyboard.press('k');
        await current('Kinds');
        await keyboard.press('Enter');
        await current('5 MiB minus 1.bin');
        await keyboard.type('let');
        await current('letter.pdf');
        await keyboard.press('Space');
        await keyboard.press('Backspace');
        await current('Kinds');
        await keyboard.press('End');
        await keyboard.press('Space');
        await web.inspect('keyboard');

        await keyboard.press('Control+Enter');
        await web.dialog.waitFor({state: 'detached'});
        expect(await web.chips()).toEqual(['letter.pdf', 'Welcome.txt']);
        expect(await web.page.getByLabel('Write to Town Square').evaluate((editor) => editor === document.activeElement)).toBe(true);
    });

    it('keeps the focus inside, and closes by Escape', async () => {
        const web = await openPicker();
        const {keyboard} = web.page;
        for (let press = 0; press < 20; press++) {
            await keyboard.press(press % 3 === 0 ? 'Shift+Tab' : 'Tab');
            expect(await web.dialog.evaluate((dialog) => dialog.contains(document.activeElement))).toBe(true);
        }
        expect(await web.dialog.getByLabel('Search').count()).toBe(0);
        await keyboard.press('Escape');
        await web.dialog.waitFor({state: 'detached'});
    });

    it('chooses ranges and all there is, and says what is too much before it is tried', async () => {
        const web = await openPicker();
        const {keyboard} = web.page;
        await web.entry('Hostile names').click();
        await web.files.and(web.page.locator(':focus')).waitFor();
        await keyboard.press('Shift+ArrowDown');
        await keyboard.press('Shift+ArrowDown');
        await web.button('3 of 10 files').waitFor();
        await keyboard.press('Control+a');
        await web.button('10 of 10 files').waitFor();
        await web.dialog.locator('.filehost-attach__warning').getByText('A message takes 10 files; that many are chosen.').waitFor();
        await web.inspect('full');
        await web.button('Clear').click();
        await web.dialog.getByText('Up to 10 files, each up to').waitFor();
        await web.page.getByText('Embedded Files', {exact: true}).click();
        await web.entry('Large').click();
        await web.entry('1 GiB.bin').click();
        expect(await web.entry('1 GiB.bin').getAttribute('aria-disabled')).toBeNull();
    });

    it('shows a folder of 10,000 files of which few are there at once', async () => {
        const web = await openPicker();
        await web.entry('Many').click();
        await web.files.and(web.page.locator('[aria-rowcount="10001"]')).waitFor();
        await expect.poll(async () => {
            await web.page.keyboard.press('End');
            return web.files.locator('.is-current').textContent();
        }, {timeout: 20_000}).toContain('file 599.txt');
        expect(await web.files.locator('.filehost-attach__item').count()).toBeLessThan(60);
    });

    it('remembers the folder, the order and the tiles', async () => {
        const web = await openPicker();
        await web.entry('Kinds').click();
        await web.entry('letter.pdf').waitFor();
        await web.dialog.getByRole('button', {name: 'Size'}).click();
        await web.files.getByRole('columnheader', {name: 'Size'}).and(web.page.locator('[aria-sort="ascending"]')).waitFor();
        await web.dialog.getByRole('button', {name: 'Size'}).click();
        await web.files.getByRole('columnheader', {name: 'Size'}).and(web.page.locator('[aria-sort="descending"]')).waitFor();
        await web.button('Tiles').click();
        await web.page.reload();
        await web.openDialog();
        await web.dialog.getByRole('grid', {name: 'Kinds, Embedded Files'}).and(web.page.locator('.filehost-attach__grid--tiles')).waitFor();
        expect(await web.dialog.getByLabel('Order').inputValue()).toBe('size desc');
    });

    it('puts files into a reply in a narrow thread', async () => {
        const thread = await site.beginThread();
        const web = await open({thread});
        await web.page.getByLabel('Reply to this thread').fill('Here:');
        const editor = web.page.getByRole('complementary', {name: 'Thread'});
        await editor.getByRole('button', {name: 'attachment'}).click();
        await editor.getByRole('link', {name: 'Attach from'}).click();
        await web.entry('Welcome.txt').click();
        await web.button('Attach 1 file').click();
        await web.dialog.waitFor({state: 'detached'});
        expect(await web.chips()).toEqual(['Welcome.txt']);
        expect(await editor.getByRole('button', {name: 'show hidden formatting options'}).getAttribute('aria-expanded')).toBe('false');
        await editor.getByRole('button', {name: 'Send'}).click();
        await web.page.locator(`li[data-root="${thread}"]`).getByText('Here: Welcome.txt').waitFor();
    });

    it('puts files into a direct message', async () => {
        const other = await site.createPerson();
        const channel = await site.directChannel(person, other);
        const web = await openPicker({channel});
        await web.entry('Welcome.txt').click();
        await web.button('Attach 1 file').click();
        await web.dialog.waitFor({state: 'detached'});
        await web.page.getByRole('button', {name: 'Send'}).click();
        await web.page.getByRole('list', {name: 'Posts'}).getByText('Welcome.txt').waitFor();
        expect(await site.postedFiles(channel)).toEqual([['Welcome.txt']]);
    });

    it('asks before it posts where there is no way into the message', async () => {
        const thread = await site.beginThread();
        const web = await open({thread, toolbar: 'hidden'});
        const editor = web.page.getByRole('complementary', {name: 'Thread'});
        await editor.getByRole('button', {name: 'attachment'}).click();
        await editor.getByRole('link', {name: 'Attach from'}).click();
        await web.entry('Kinds').click();
        await web.entry('letter.pdf').click();
        await web.button('Attach 1 file').click();
        await web.dialog.getByText('Post them to this thread now?').waitFor();
        await web.inspect('ask-to-post');
        const before = (await site.postedFiles(site.channelId)).length;
        await web.button('Back').click();
        await web.button('Attach 1 file').click();
        await web.button('Post now').click();
        await web.dialog.waitFor({state: 'detached'});
        expect(await site.postedFiles(site.channelId)).toHaveLength(before + 1);
        expect((await site.postedFiles(site.channelId))[0]).toEqual(['letter.pdf']);
    });

    it('goes on where it was when its user has connected again', async () => {
        const own = await site.createPerson();
        await site.joinChannel(own);
        client = await WebClient.open(browser, site, own);
        const web = client;
        await web.openDialog();
        await web.connect();
        await web.entry('Welcome.txt').click();
        await web.page.evaluate(async () => {
            const csrf = /MMCSRF=([^;]*)/.exec(document.cookie)?.[1] ?? '';
            await fetch('/plugins/filehost-attach/api/connection', {method: 'DELETE', headers: {'X-CSRF-Token': csrf, 'X-Requested-With': 'XMLHttpRequest'}});
        });
        await web.connect();
        await web.button('1 of 10 files').waitFor();
        await web.button('Attach 1 file').click();
        await web.dialog.waitFor({state: 'detached'});
        expect(await web.chips()).toEqual(['Welcome.txt']);
    });

    it('works in the web client of an old server, which has React 17', async () => {
        const thread = await site.beginThread();
        const web = await open({react: 17, thread});
        const editor = web.page.getByRole('complementary', {name: 'Thread'});
        await editor.getByRole('button', {name: 'attachment'}).click();
        await editor.getByRole('link', {name: 'Attach from'}).click();
        await web.entry('Kinds').click();
        await web.button('Tiles').click();
        await web.entry('letter.pdf').click();
        await web.button('Attach 1 file').click();
        await web.dialog.waitFor({state: 'detached'});
        expect(await web.chips()).toEqual(['letter.pdf']);
    });

    it.each([
        ['de', 'Von Embedded Files anhängen', 'Bis zu 10 Dateien'],
        ['fr', 'Joindre depuis Embedded Files', 'Jusqu’à 10 fichiers'],
        ['es', 'Adjuntar desde Embedded Files', 'Hasta 10 archivos'],
        ['ja', 'Embedded Files から添付', '最大 10 個のファイル'],
        ['nl', 'Attach from Embedded Files', 'Up to 10 files'],
    ])('speaks %s', async (locale, title, limits) => {
        const web = await open({locale});
        await web.page.locator('#create_post').getByRole('button', {name: title}).click();
        await web.page.getByRole('dialog', {name: title}).waitFor();
        await web.dialog.getByText(limits).waitFor();
        await web.inspect(`picker-${locale}`);
    });

    it('works from right to left, in high contrast and at twice the size', async () => {
        const web = await openPicker({forcedColors: true, width: 512, height: 320});
        await web.entry('Kinds').click();
        await web.entry('5 MiB.bin').click();
        await web.button('1 of 10 files').waitFor();
        await web.inspect('high-contrast');
        await web.page.evaluate(() => {
            document.documentElement.dir = 'rtl';
        });
        await web.button('Tiles').click();
        await web.entry('5 MiB.bin').waitFor();
        await web.page.keyboard.press('Escape');
        await web.inspect('right-to-left');
    });
});

describe('the picker at a host that searches', () => {
    it('searches below a folder, and has the views that the host has', async () => {
        await site.withLoginFlow({loginflowanyemail: true}, async () => {
            const own = await site.createPerson();
            await site.joinChannel(own);
            client = await WebClient.open(browser, site, own);
            const web = client;
            await web.openDialog();
            const page = await web.beginSignIn();
            await allowAccess(page, site.hostAccount);
            await page.close();
            await web.button('Connect this account').click();
            await web.files.waitFor();
            await web.inspect('picker-nextcloud');

            await web.entry('Kinds').click();
            await web.button('Tiles').click();
            const image = web.entry('picture.png').locator('img');
            await image.waitFor();
            await expect.poll(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBeGreaterThan(0);
            await web.inspect('picker-thumbnails');
            await web.button('List').click();
            await web.files.waitFor();
            await web.dialog.getByRole('navigation', {name: 'Folders'}).getByRole('button').click();
            await web.entry('Kinds').waitFor();

            const {keyboard} = web.page;
            await keyboard.press('/');
            await keyboard.type('plan');
            await web.dialog.getByRole('grid', {name: 'Results for “plan”'}).waitFor();
            await web.entry('plan.md').waitFor();
            await web.inspect('picker-search');
            await keyboard.press('ArrowDown');
            await web.files.and(web.page.locator(':focus')).waitFor();
            await keyboard.press('p');
            await keyboard.press('Space');
            await web.button('1 of 10 files').waitFor();
            await keyboard.press('/');
            await keyboard.press('Control+a');
            await keyboard.type('nothing is called this');
            await web.dialog.getByText('Nothing found for “nothing is called this”').waitFor();
            await web.inspect('picker-nothing-found');
            await keyboard.press('Escape');
            await web.dialog.getByRole('grid', {name: 'Company Cloud', exact: true}).waitFor();

            await web.button('Recent').click();
            await web.dialog.getByRole('grid', {name: 'Recent, Company Cloud'}).waitFor();
            await web.inspect('picker-recent');
            await web.button('Favourites').click();
            await web.dialog.getByText('No favourites yet').waitFor();
            await web.inspect('picker-no-favourites');
            await web.button('Attach 1 file').click();
            await web.dialog.waitFor({state: 'detached'});
            expect(await web.chips()).toEqual(['plan.md']);
        });
    });
});
