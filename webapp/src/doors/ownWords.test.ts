import {describe, expect, it} from 'vitest';

import {ownWords} from './ownWords';

const line = '[`a.pdf`](https://cloud.example.com/f/1) · PDF, 1.0 MB · `Cloud` · for people who have access there';

describe('the own words of a post with a card', () => {
    it.each([
        {name: 'words and a link', message: `Look:\n\n${line}`, links: 1, want: 'Look:'},
        {name: 'words of two paragraphs', message: `Look:\n\nHere.\n\n${line}\n${line}`, links: 2, want: 'Look:\n\nHere.'},
        {name: 'a link alone', message: line, links: 1, want: ''},
        {name: 'edited: another line', message: `Look:\n\n${line}\nand more`, links: 1, want: `Look:\n\n${line}\nand more`},
        {name: 'edited: no link left', message: 'Look!', links: 1, want: 'Look!'},
    ])('$name', ({message, links, want}) => {
        expect(ownWords(message, links)).toBe(want);
    });
});
