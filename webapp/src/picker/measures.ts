import type {IntlShape} from 'react-intl';

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/** How large something is, in the words of the user's language. A kilobyte has 1024 bytes, as hosts have it. */
export function sizeText(intl: IntlShape, bytes: number): string {
    let [size, unit] = [bytes, 0];
    while (size >= 1023.95 && unit < units.length - 1) {
        size /= 1024;
        unit++;
    }
    return intl.formatNumber(size, {
        style: 'unit',
        unit: units[unit] ?? 'byte',
        unitDisplay: unit === 0 ? 'long' : 'short',
        maximumFractionDigits: unit === 0 || size >= 100 ? 0 : 1,
    });
}
