import React, {useEffect, useState, type ReactElement} from 'react';
import {useIntl} from 'react-intl';

import type {Client} from './client';
import type {Card} from './doors/Card';
import {PostText} from './PostText';
import type {Words} from './picker/translations';
import type {Post} from './types';

type Loaded = {Shown: typeof Card; words: Words};

/** A post whose type says that it has a card. Anybody can make one, so it is its text until the server knows better. */
export function CardPost({client, post, userId}: {client: Client; post: Post; userId: string}): ReactElement {
    const {locale} = useIntl();
    const [loaded, setLoaded] = useState<Loaded>();

    useEffect(() => {
        let gone = false;
        load(locale).then(
            (parts) => {
                if (!gone) {
                    setLoaded(parts);
                }
            },
            () => {
                // The text says the same.
            },
        );
        return () => {
            gone = true;
        };
    }, [locale]);

    return loaded ? (
        <loaded.Shown
            client={client}
            post={post}
            userId={userId}
            words={loaded.words}
        />
    ) : <PostText message={post.message}/>;
}

async function load(locale: string): Promise<Loaded> {
    const {Card: Shown, loadDoorWords} = await import(/* webpackChunkName: "card" */ './doors/Card');
    return {Shown, words: await loadDoorWords(locale).catch(() => ({}))};
}
