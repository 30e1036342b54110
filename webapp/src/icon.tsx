import React, {type ReactElement} from 'react';

/** The plugin's icon, in the colour of the text around it and, unless said, in its size. */
export function CloudIcon({size = '1em'}: {size?: string}): ReactElement {
    return (
        <svg
            aria-hidden='true'
            width={size}
            height={size}
            viewBox='0 0 24 24'
            fill='none'
            stroke='currentColor'
            strokeWidth='2'
            strokeLinecap='round'
            strokeLinejoin='round'
        >
            <path d='M7 19a5 5 0 0 1-.6-9.96 6 6 0 0 1 11.5-.6A5.3 5.3 0 0 1 17.5 19'/>
            <path d='M12 21v-8m-3 3 3-3 3 3'/>
        </svg>
    );
}
