import React, {type ReactElement, type ReactNode} from 'react';
import {FormattedMessage, type MessageDescriptor} from 'react-intl';

import type {ApiError} from '../client';
import {messages} from './connectWords';
import {Icon, type IconName} from './icons';
import {Button} from './parts';
import type {Arrangement, Place} from './place';
import {adviceFor} from './problems';
import {words} from './words';

/** Says in the middle of the list why there is nothing in it. */
function Blank({icon, title, help, children, alert = false}: {icon: IconName; title: ReactNode; help?: ReactNode; children?: ReactNode; alert?: boolean}): ReactElement {
    return (
        <div
            className='filehost-attach__blank'
            role={alert ? 'alert' : undefined}
        >
            <span className='filehost-attach__blank-icon'>
                <Icon
                    name={icon}
                    size={40}
                />
            </span>
            <p className='filehost-attach__blank-title'>{title}</p>
            {help && <p className='filehost-attach__help'>{help}</p>}
            {children}
        </div>
    );
}

type EmptyProps = {place: Place; arrangement: Arrangement; host: string};

/** There is nothing at a place. */
export function Empty({place, arrangement, host}: EmptyProps): ReactElement {
    const [icon, title, help] = emptiness(place, arrangement);
    return (
        <Blank
            icon={icon}
            title={(
                <FormattedMessage
                    {...title}
                    values={{words: place.words, host}}
                />
            )}
            help={help && (
                <FormattedMessage
                    {...help}
                    values={{host}}
                />
            )}
        />
    );
}

function emptiness({view, words: searched}: Place, {kind}: Arrangement): [IconName, MessageDescriptor, MessageDescriptor?] {
    if (searched !== '') {
        return ['search', words.emptySearch, words.emptySearchHelp];
    }
    if (kind !== 'all') {
        return ['folderOpen', words.emptyKind];
    }
    switch (view) {
    case 'recent':
        return ['clock', words.emptyRecent];
    case 'favorites':
        return ['star', words.emptyFavorites, words.emptyFavoritesHelp];
    case 'shared':
        return ['people', words.emptyShared];
    case 'folder':
        return ['folderOpen', words.emptyFolder, words.emptyFolderHelp];
    }
}

/** A listing that did not come, and what to do about it. */
export function ListingFailed({problem, host, retry, toTop}: {problem: ApiError; host: string; retry: () => void; toTop: () => void}): ReactElement {
    const {title, help, next} = adviceFor[problem.code];
    const values = {host, seconds: Number(problem.details?.retry_after_s ?? 0)};
    return (
        <Blank
            icon='warning'
            alert={true}
            title={title ? (
                <FormattedMessage
                    {...title}
                    values={values}
                />
            ) : problem.message}
            help={help && (
                <FormattedMessage
                    {...help}
                    values={values}
                />
            )}
        >
            {problem.status >= 500 && problem.requestId && (
                <p className='filehost-attach__help'>
                    <FormattedMessage
                        {...messages.reference}
                        values={{id: problem.requestId}}
                    />
                </p>
            )}
            {next === 'retry' && (
                <Button
                    kind='tertiary'
                    onClick={retry}
                >
                    <FormattedMessage {...messages.tryAgain}/>
                </Button>
            )}
            {next === 'top' && (
                <Button
                    kind='tertiary'
                    onClick={toTop}
                >
                    <FormattedMessage {...words.toTop}/>
                </Button>
            )}
            {next === 'reload' && (
                <Button
                    kind='tertiary'
                    onClick={() => {
                        window.location.reload();
                    }}
                >
                    <FormattedMessage {...words.reload}/>
                </Button>
            )}
        </Blank>
    );
}

/** What the list will look like once it is there. */
export function Skeleton({tiles}: {tiles: boolean}): ReactElement {
    return (
        <div
            className={`filehost-attach__skeleton${tiles ? ' filehost-attach__skeleton--tiles' : ''}`}
            aria-hidden='true'
        >
            {Array.from({length: 8}, (_, index) => (
                <div key={index}>
                    <span/>
                    <span/>
                </div>
            ))}
        </div>
    );
}
