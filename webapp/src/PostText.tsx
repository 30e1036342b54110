import React, {type ReactElement} from 'react';

/** The text of a post as Mattermost formats it; where the web client has no such functions, as it was written. */
export function PostText({message}: {message: string}): ReactElement {
    const {PostUtils: utils} = window;
    return utils ? (
        <div
            className='post-message__text'
            dir='auto'
        >
            {utils.messageHtmlToComponent(utils.formatText(message, {atMentions: true}))}
        </div>
    ) : (
        <div
            dir='auto'
            style={{whiteSpace: 'pre-wrap'}}
        >
            {message}
        </div>
    );
}
