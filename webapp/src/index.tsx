import React from 'react';

import german from '../i18n/start/de.json';
import english from '../i18n/start/en.json';
import spanish from '../i18n/start/es.json';
import french from '../i18n/start/fr.json';
import japanese from '../i18n/start/ja.json';
import {AttachLabel} from './AttachLabel';
import {createClient} from './client';
import {registerDoors} from './doors';
import {EditorButton} from './EditorButton';
import {Editors, type Composer} from './editors';
import {CloudIcon} from './icon';
import {Root} from './Root';
import {onShortcut} from './shortcut';
import {createSignal} from './signal';
import type {Registry, Store} from './types';

const pluginId = 'filehost-attach';

const translations: Record<string, Record<string, string>> = {de: german, es: spanish, fr: french, ja: japanese};

function initialize(registry: Registry, store: Store): void {
    const client = createClient(window.basename ?? '');
    const editors = new Editors();
    const opened = createSignal<Composer>();
    const changed = createSignal();

    // An item of the paperclip menu is not told of which editor it is.
    let pressed: Element | null = null;
    document.addEventListener('click', ({target}) => {
        pressed = target instanceof Element ? target.closest('form') : null;
    }, {capture: true});
    const open = (form: Element | null) => {
        opened.emit(editors.open(form, store.getState()));
    };

    const wordsOf = (locale: string) => translations[locale.split('-')[0] ?? ''] ?? english;
    registry.registerTranslations(wordsOf);
    registry.registerWebSocketEventHandler(`custom_${pluginId}_connection`, changed.emit);
    registry.registerRootComponent(() => (
        <Root
            client={client}
            opened={opened}
            changed={changed}
            userId={() => store.getState().entities?.users?.currentUserId ?? ''}
        />
    ));
    registry.registerFileUploadMethod(<CloudIcon/>, () => {
        open(pressed);
    }, <AttachLabel client={client}/>);
    registry.registerPostEditorActionComponent?.((props) => (
        <EditorButton
            {...props}
            client={client}
            editors={editors}
            onPress={open}
        />
    ));
    document.addEventListener('keydown', onShortcut(open));
    registerDoors(registry, store, client, changed, wordsOf);
}

window.registerPlugin(pluginId, {initialize});
