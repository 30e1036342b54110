import React, {type ReactElement} from 'react';
import {FormattedMessage} from 'react-intl';

import {AccountSection} from './AccountSection';
import {CardPost} from './CardPost';
import type {Client} from './client';
import {DoorRoot, type Asked} from './DoorRoot';
import {HostLabel} from './HostLabel';
import {messages} from './messages';
import {createSignal, type Signal} from './signal';
import type {FileInfo, Registry, Store} from './types';

/** The type of posts with links; it says nothing of who has made them. */
const cardType = 'custom_filehost_card';

/** Registers what there is besides the picker: cards, the menus of files and posts, and the account in the user's settings. */
export function registerDoors(registry: Registry, store: Store, client: Client, changed: Signal, wordsOf: (locale: string) => Record<string, string>): void {
    const asked = createSignal<Asked>();
    const entities = () => store.getState().entities;
    const me = () => entities()?.users?.currentUserId ?? '';
    const postOf = (id: string) => entities()?.posts?.posts?.[id];
    const saveLabel = (): ReactElement => (
        <HostLabel
            client={client}
            named={messages.saveTo}
            unnamed={messages.saveToFileHost}
        />
    );

    registry.registerRootComponent(() => (
        <DoorRoot
            client={client}
            asked={asked}
            changed={changed}
        />
    ));
    registry.registerPostTypeComponent?.(cardType, ({post}) => (
        <CardPost
            client={client}
            post={post}
            userId={me()}
        />
    ));
    registry.registerFileDropdownMenuAction?.(() => true, saveLabel(), ({id, name, size}) => {
        asked.emit({door: 'save', files: [{id, name, size}]});
    });
    registry.registerPostDropdownMenuAction?.(saveLabel(), (id) => {
        asked.emit({door: 'save', files: filesOf(postOf(id)?.file_ids ?? [], entities()?.files?.files ?? {})});
    }, (id) => (postOf(id)?.file_ids?.length ?? 0) > 0);

    // The server tells only the one who has posted.
    registry.registerPostDropdownMenuAction?.(<FormattedMessage {...messages.checkNewer}/>, (id) => {
        asked.emit({door: 'newer', postId: id});
    }, (id) => {
        const post = postOf(id);
        return post?.user_id === me() && ((post.file_ids?.length ?? 0) > 0 || post.type === cardType);
    });

    // The page takes plain texts; it is made once.
    const words = wordsOf(entities()?.users?.profiles?.[me()]?.locale ?? '');
    const worded = ({id, defaultMessage}: {id: string; defaultMessage: string}) => words[id] ?? defaultMessage;
    registry.registerUserSettings?.({
        id: 'filehost-attach',
        uiName: worded(messages.fileHost),
        sections: [{
            title: worded(messages.account),
            component: () => (
                <AccountSection
                    client={client}
                    changed={changed}
                    onConnect={() => {
                        asked.emit({door: 'connect'});
                    }}
                />
            ),
        }],
    });
}

/** The files of a post, as far as the web client knows them. */
function filesOf(ids: readonly string[], known: Record<string, FileInfo | undefined>): FileInfo[] {
    return ids.map((id) => ({id, name: known[id]?.name ?? '', size: known[id]?.size ?? 0}));
}
