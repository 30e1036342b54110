import {createIntl} from 'react-intl';
import {describe, expect, it} from 'vitest';

import {sizeText} from './measures';

describe('a size', () => {
    it.each<[number, string, string]>([
        [0, 'en', '0 bytes'],
        [1, 'en', '1 byte'],
        [1000, 'en', '1,000 bytes'],
        [1023.99 * 1024, 'en', '1 MB'],
        [1536, 'en', '1.5 kB'],
        [100 * 1024 ** 2, 'en', '100 MB'],
        [1.25 * 1024 ** 3, 'de', '1,3 GB'],
        [5 * 1024 ** 5, 'en', '5,120 TB'],
    ])('%d in %s is %s', (bytes, locale, expected) => {
        expect(sizeText(createIntl({locale}), bytes).replace(/\s/, ' ')).toBe(expected);
    });
});
