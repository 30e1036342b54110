import {afterEach, describe, expect, it, vi} from 'vitest';

import {Editors} from './editors';
import type {Draft, EditorProps, FileInfo, HostState} from './types';

const info = (id: string): FileInfo => ({id, name: `${id}.pdf`, size: 1});
const state: HostState = {
    entities: {channels: {currentChannelId: 'town'}, posts: {posts: {question: {channel_id: 'team', root_id: ''}, answer: {channel_id: 'team', root_id: 'question'}}}},
    views: {rhs: {selectedPostId: 'question'}},
};

/** An editor of the web client: what it sends is the draft that `updateText` leaves. */
function editor(changed: Partial<Draft> = {}, id = 'create_post') {
    const form = document.createElement('form');
    form.id = id;
    form.append(document.createElement('textarea'));
    document.body.append(form);
    let draft: Draft = {channelId: 'town', rootId: '', message: 'Look:', fileInfos: [info('old')], ...changed};
    const props = (): EditorProps => {
        const mine = draft;
        return {
            draft: mine,
            updateText: (message) => {
                draft = {...mine, message};
            },
        };
    };
    return {form, props, draft: () => draft};
}

/** The button of a narrow toolbar, behind which components are. */
function hiddenControls(form: Element, pressed: () => void): void {
    const button = document.createElement('button');
    button.type = 'button';
    button.id = 'HiddenControlsButtonRHS_COMMENT';
    button.addEventListener('click', pressed);
    form.append(button);
}

afterEach(() => {
    document.body.replaceChildren();
});

describe('an editor', () => {
    it('gets files into its draft, beside those that it has, and keeps its text', () => {
        const editors = new Editors();
        const {form, props, draft} = editor();
        const before = draft().fileInfos;
        editors.show(Symbol('a'), form, props());
        const composer = editors.open(form, state);
        expect(composer.target()).toEqual({channelId: 'town', rootId: ''});
        expect(composer.takesFiles()).toBe(true);
        expect(composer.taken()).toBe(1);
        composer.deliver([info('new'), info('old')]);
        expect(draft()).toMatchObject({message: 'Look:', fileInfos: [info('old'), info('new')]});
        expect(before).toEqual([info('old')]);
    });

    it('gets them into what was written in the meantime', () => {
        const editors = new Editors();
        const {form, props, draft} = editor();
        const key = Symbol('a');
        editors.show(key, form, props());
        const composer = editors.open(form, state);
        props().updateText('Look at this:');
        editors.show(key, form, props());
        composer.deliver([info('new')]);
        expect(draft()).toMatchObject({message: 'Look at this:', fileInfos: [info('old'), info('new')]});
    });

    it('is reached behind the button of a narrow toolbar, which is pressed again', async () => {
        const editors = new Editors();
        const {form, props, draft} = editor({rootId: 'question'}, '');
        const key = Symbol('a');
        let shown = false;
        const press = vi.fn(() => {
            shown = !shown;
            if (shown) {
                editors.show(key, form, props());
            } else {
                editors.hide(key);
            }
        });
        hiddenControls(form, press);
        const composer = editors.open(form, state);
        await Promise.resolve();
        expect([press.mock.calls.length, shown]).toEqual([2, false]);
        expect(composer.takesFiles()).toBe(true);
        expect(composer.target()).toEqual({channelId: 'town', rootId: 'question'});
        composer.deliver([info('new')]);
        await Promise.resolve();
        expect([press.mock.calls.length, shown]).toEqual([4, false]);
        expect(draft().fileInfos).toEqual([info('old'), info('new')]);
    });

    it.each<[string, string, HostState, ReturnType<ReturnType<Editors['open']>['target']>]>([
        ['the channel', 'create_post', state, {channelId: 'town', rootId: ''}],
        ['the thread', '', state, {channelId: 'team', rootId: 'question'}],
        ['the thread of an answer', '', {...state, views: {rhs: {selectedPostId: 'answer'}}}, {channelId: 'team', rootId: 'question'}],
        ['nothing in a thread that is not known', '', {...state, views: {}}, undefined],
        ['nothing in a channel that is not known', 'create_post', {}, undefined],
    ])('that shows no component takes no files, and posts to: %s', (_, id, current, expected) => {
        const composer = new Editors().open(editor({}, id).form, current);
        expect(composer.takesFiles()).toBe(false);
        expect(composer.taken()).toBe(0);
        expect(composer.target()).toEqual(expected);
    });

    it('that is none has no target', () => {
        expect(new Editors().open(null, state).target()).toBeUndefined();
    });

    it('gets the focus back', () => {
        const {form} = editor();
        new Editors().open(form, state).focus();
        expect(form.querySelector('textarea')).toHaveFocus();
    });
});
