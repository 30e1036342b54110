import React, {useCallback, useEffect, useLayoutEffect, useState, type ReactElement} from 'react';
import {FormattedDate, FormattedMessage, useIntl} from 'react-intl';

import {asApiError, type ApiError, type Client} from '../client';
import {FileIcon, Icon} from '../picker/icons';
import {sizeText} from '../picker/measures';
import type {Words} from '../picker/translations';
import {PostText} from '../PostText';
import type {Post} from '../types';
import {readCard, refresh, webAddress, type CardData, type CardItem, type Link, type Refreshed} from './calls';
import css from './card.css?raw';
import {copyText} from './copyText';
import {freshnessOf, forgetFreshness} from './freshness';
import {ownWords} from './ownWords';
import {Worded} from './Worded';
import {words as said} from './words';

export {loadDoorWords} from './translations';

type Props = {client: Client; post: Post; userId: string; words: Words};

/** The card of a post, of what the server knows of it; until it tells, and where it knows nothing, the text of the post. */
export function Card({post, userId, words}: Props): ReactElement {
    const [card, reload] = useCard(post);
    useStyle();
    if (!card) {
        return <PostText message={post.message}/>;
    }
    const own = ownWords(post.message, card.items.length);
    return (
        <Worded words={words}>
            {own !== '' && <PostText message={own}/>}
            <Items
                card={card}
                own={card.user_id === userId}
                reload={reload}
            />
        </Worded>
    );
}

/** What the server says of a post; asked for again when the post changes. */
function useCard({id, update_at: updated}: Post): [CardData | undefined, () => void] {
    const [card, setCard] = useState<CardData>();
    const [attempt, setAttempt] = useState(0);
    useEffect(() => {
        const request = new AbortController();
        readCard(id, request.signal).then(
            (read) => {
                if (!request.signal.aborted) {
                    setCard(read);
                }
            },
            () => {
                if (!request.signal.aborted) {
                    setCard(undefined);
                }
            },
        );
        return () => {
            request.abort();
        };
    }, [id, updated, attempt]);
    return [card?.post_id === id ? card : undefined, useCallback(() => {
        setAttempt((before) => before + 1);
    }, [])];
}

/** Puts the styles of cards into the page, once for all cards. */
function useStyle(): void {
    useLayoutEffect(() => {
        if (!document.getElementById('filehost-attach-cards')) {
            const style = document.createElement('style');
            style.id = 'filehost-attach-cards';
            style.textContent = css;
            document.head.append(style);
        }
    }, []);
}

/** All entries of a card. Its poster also sees which of them have changed at the host. */
function Items({card, own, reload}: {card: CardData; own: boolean; reload: () => void}): ReactElement {
    const intl = useIntl();
    const [fresh, setFresh] = useState<Refreshed[]>([]);
    const [busy, setBusy] = useState(false);
    const [problem, setProblem] = useState<ApiError>();
    const [spoken, setSpoken] = useState('');

    useEffect(() => {
        let gone = false;
        if (own) {
            void freshnessOf(card.post_id).then((items) => {
                if (!gone) {
                    setFresh(items);
                }
            });
        }
        return () => {
            gone = true;
        };
    }, [own, card]);

    const update = () => {
        setBusy(true);
        setProblem(undefined);
        refresh(card.post_id, false).then(
            () => {
                forgetFreshness(card.post_id);
                setFresh([]);
                setBusy(false);
                setSpoken(intl.formatMessage(said.updated));
                reload();
            },
            (error: unknown) => {
                setProblem(asApiError(error));
                setBusy(false);
            },
        );
    };
    return (
        <div className='filehost-attach-card'>
            <ul aria-label={intl.formatMessage(said.cardFiles, {host: card.host.name})}>
                {card.items.map((item, index) => (
                    <Item
                        key={index}
                        item={item}
                        host={card.host.name}
                        state={fresh[index]?.state}
                        busy={busy}
                        onUpdate={update}
                        onSpoken={setSpoken}
                    />
                ))}
            </ul>
            {problem && <p role='alert'>{problem.code === 'offline' || problem.code === 'unreadable' ? <FormattedMessage {...said.failed}/> : problem.message}</p>}
            <span
                role='status'
                className='sr-only'
            >
                {spoken}
            </span>
        </div>
    );
}

type ItemProps = {
    item: CardItem;
    host: string;
    state: Refreshed['state'] | undefined;
    busy: boolean;
    onUpdate: () => void;
    onSpoken: (text: string) => void;
};

function Item({item, host, state, busy, onUpdate, onSpoken}: ItemProps): ReactElement {
    const intl = useIntl();
    const address = webAddress(item.link?.url);
    const [copied, setCopied] = useState(false);
    const copy = (text: string) => {
        void copyText(text).then((done) => {
            setCopied(done);
            onSpoken(intl.formatMessage(done ? said.copied : said.notCopied));
        });
    };
    return (
        <li>
            <FileIcon
                entry={item}
                size={40}
            />
            <span className='filehost-attach-card__texts'>
                <bdi
                    className='filehost-attach-card__name'
                    title={item.name}
                >
                    {item.name}
                </bdi>
                <span className='filehost-attach-card__detail'>
                    {[item.kind === 'folder' ? intl.formatMessage(said.folder) : sizeText(intl, item.size), host].join(' · ')}
                </span>
                <span className='filehost-attach-card__detail'>
                    {item.link && (
                        <Audience
                            link={item.link}
                            host={host}
                        />
                    )}
                </span>
                {(state === 'changed' || state === 'renamed') && (
                    <span className='filehost-attach-card__badge'>
                        <FormattedMessage {...(state === 'changed' ? said.newer : said.renamed)}/>
                        <button
                            type='button'
                            aria-disabled={busy}
                            aria-label={intl.formatMessage(said.updateFile, {name: item.name})}
                            onClick={busy ? undefined : onUpdate}
                        >
                            <FormattedMessage {...said.update}/>
                        </button>
                    </span>
                )}
                {state === 'gone' && (
                    <span className='filehost-attach-card__badge'>
                        <FormattedMessage
                            {...said.gone}
                            values={{host}}
                        />
                    </span>
                )}
            </span>
            {address && (
                <span className='filehost-attach-card__actions'>
                    <a
                        href={address}
                        target='_blank'
                        rel='noopener noreferrer'
                        aria-label={intl.formatMessage(said.openFile, {name: item.name})}
                    >
                        <FormattedMessage {...said.open}/>
                    </a>
                    <button
                        type='button'
                        aria-label={intl.formatMessage(said.copyFile, {name: item.name})}
                        onClick={() => {
                            copy(address);
                        }}
                    >
                        {copied && (
                            <Icon
                                name='check'
                                size={14}
                            />
                        )}
                        <FormattedMessage {...(copied ? said.copied : said.copy)}/>
                    </button>
                </span>
            )}
        </li>
    );
}

/** Who can open a link, and for how long. */
function Audience({link, host}: {link: Link; host: string}): ReactElement {
    const [now] = useState(Date.now);
    if (link.revoked_at) {
        return <FormattedMessage {...said.revoked}/>;
    }
    if (link.expires_at && Date.parse(link.expires_at) <= now) {
        return <FormattedMessage {...said.expired}/>;
    }
    if (link.audience === 'internal') {
        return (
            <FormattedMessage
                {...said.internal}
                values={{host}}
            />
        );
    }
    return (
        <>
            <FormattedMessage {...(link.permission === 'edit' ? said.anyoneEdits : said.anyoneViews)}/>
            {link.password_set && (
                <>
                    {' · '}
                    <FormattedMessage {...said.password}/>
                </>
            )}
            {link.expires_at && (
                <>
                    {' · '}
                    <FormattedMessage
                        {...said.until}
                        values={{
                            day: (
                                <FormattedDate
                                    value={Date.parse(link.expires_at) - 1}
                                    dateStyle='medium'
                                />
                            ),
                        }}
                    />
                </>
            )}
        </>
    );
}
