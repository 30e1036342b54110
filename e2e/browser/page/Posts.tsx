import React, {useState, type ReactElement} from 'react';

import type {Post} from './mattermost';
import type {FileInfo, Registry} from './registry';

/** The posts of a channel, each as the component of its type shows it, with the menus of it and of its files. */
export function Posts({registry, posts}: {registry: Registry; posts: Post[]}): ReactElement {
    return (
        <ol
            className='posts'
            aria-label='Posts'
        >
            {posts.map((post) => (
                <li
                    key={post.id}
                    data-root={post.root_id}
                    data-post={post.id}
                >
                    <Body
                        registry={registry}
                        post={post}
                    />
                    <PostMenu
                        registry={registry}
                        id={post.id}
                    />
                </li>
            ))}
        </ol>
    );
}

function Body({registry, post}: {registry: Registry; post: Post}): ReactElement {
    const Typed = registry.postTypes.get(post.type);
    return (
        <div>
            {Typed ? React.createElement(Typed, {post}) : post.message}
            {(post.metadata.files ?? []).map((file) => (
                <span key={file.id}>
                    {` ${file.name}`}
                    <FileMenu
                        registry={registry}
                        file={file}
                    />
                </span>
            ))}
        </div>
    );
}

function PostMenu({registry, id}: {registry: Registry; id: string}): ReactElement {
    return (
        <Menu
            label='more'
            items={registry.postActions.filter(({filter}) => filter(id)).map(({text, action}) => ({
                text,
                act: () => {
                    action(id);
                },
            }))}
        />
    );
}

function FileMenu({registry, file}: {registry: Registry; file: FileInfo}): ReactElement {
    return (
        <Menu
            label={`more of ${file.name}`}
            items={registry.fileActions.filter(({match}) => match(file)).map(({text, action}) => ({
                text,
                act: () => {
                    action(file);
                },
            }))}
        />
    );
}

function Menu({label, items}: {label: string; items: {text: ReactElement; act: () => void}[]}): ReactElement {
    const [open, setOpen] = useState(false);
    return (
        <span className='menu'>
            <button
                type='button'
                aria-label={label}
                aria-expanded={open}
                onClick={() => {
                    setOpen(!open);
                }}
            >
                {'…'}
            </button>
            {open && items.map(({text, act}, index) => (
                <button
                    key={index}
                    type='button'
                    onClick={() => {
                        setOpen(false);
                        act();
                    }}
                >
                    {text}
                </button>
            ))}
        </span>
    );
}

/** The user's settings: what plugins have put there. */
export function Settings({registry}: {registry: Registry}): ReactElement {
    return (
        <aside aria-label='Settings'>
            {registry.settings.map(({id, uiName, sections}) => (
                <section key={id}>
                    <h2>{uiName}</h2>
                    {sections.map(({title, component: Section}) => (
                        <div key={title}>
                            <h3>{title}</h3>
                            <Section/>
                        </div>
                    ))}
                </section>
            ))}
        </aside>
    );
}
