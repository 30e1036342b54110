import React from 'react';

import english from '../i18n/en.json';
import {AttachLabel} from './AttachLabel';
import {createClient} from './client';
import {CloudIcon} from './icon';
import {Root} from './Root';
import {createSignal} from './signal';
import type {Registry} from './types';

const pluginId = 'filehost-attach';

function initialize(registry: Registry): void {
    const client = createClient(window.basename ?? '');
    const opened = createSignal();
    const changed = createSignal();

    registry.registerTranslations(() => english);
    registry.registerWebSocketEventHandler(`custom_${pluginId}_connection`, changed.emit);
    registry.registerRootComponent(() => (
        <Root
            client={client}
            opened={opened}
            changed={changed}
        />
    ));
    registry.registerFileUploadMethod(<CloudIcon/>, opened.emit, <AttachLabel client={client}/>);
}

window.registerPlugin(pluginId, {initialize});
