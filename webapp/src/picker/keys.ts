/** A key as it was pressed. */
export type Press = {key: string; shift: boolean; command: boolean};

/** How the entries lie on the screen. */
export type Layout = {

    /** How many there are. */
    count: number;

    /** Of a row; 1 in a list. */
    columns: number;

    /** Rows that can be seen at once. */
    rows: number;

    /** Whether the first column is on the right. */
    mirrored: boolean;
};

/** What a key asks for. `range`: all entries on the way are chosen. */
export type Wish =
    | {type: 'go'; to: number; range: boolean}
    | {type: 'toggle'}
    | {type: 'open'}
    | {type: 'attach'}
    | {type: 'up'}
    | {type: 'all'}
    | {type: 'search'}
    | {type: 'letter'; letter: string};

/** What a key asks for while the entry `at` is the current one; undefined = it is not for the list. */
export function wishOf({key, shift, command}: Press, at: number, layout: Layout): Wish | undefined {
    if (command) {
        switch (key) {
        case 'a':
            return {type: 'all'};
        case 'Enter':
            return {type: 'attach'};
        case 'Home':
        case 'End':
            break;
        default:
            return undefined;
        }
    }
    const to = destination(key, at, layout);
    if (to !== undefined) {
        return {type: 'go', to, range: shift};
    }
    switch (key) {
    case ' ':
        return {type: 'toggle'};
    case 'Enter':
        return {type: 'open'};
    case 'Backspace':
        return {type: 'up'};
    case '/':
        return {type: 'search'};
    default:
        return key.length === 1 ? {type: 'letter', letter: key} : undefined;
    }
}

function destination(key: string, at: number, {count, columns, rows, mirrored}: Layout): number | undefined {
    const side = columns === 1 ? 0 : (mirrored ? -1 : 1);
    const steps: Record<string, number> = {
        ArrowDown: columns,
        ArrowUp: -columns,
        ArrowRight: side,
        ArrowLeft: -side,
        PageDown: columns * rows,
        PageUp: -columns * rows,
        Home: -count,
        End: count,
    };
    const step = steps[key];
    if (step === undefined) {
        return undefined;
    }
    const to = at + step;

    // In tiles there may be no entry below; the keys for a page and for the ends stop at the last there is.
    if (Math.abs(step) === columns && columns > 1 && (to < 0 || to >= count)) {
        return at;
    }
    return Math.max(0, Math.min(count - 1, to));
}

/**
 * The next entry whose name begins with what was typed, from the current one on and around; the current one itself
 * counts when more than one letter was typed. The same letter again leads to the next one that begins with it.
 */
export function findByName(names: readonly string[], at: number, typed: string, locale: string): number | undefined {
    const first = String.fromCodePoint(typed.codePointAt(0) ?? 0);
    const same = typed === first.repeat(typed.length / first.length);
    const wanted = (same ? first : typed).toLocaleLowerCase(locale);
    const begin = same ? at + 1 : at;
    for (let step = 0; step < names.length; step++) {
        const index = (begin + step) % names.length;
        if (names[index]?.toLocaleLowerCase(locale).startsWith(wanted)) {
            return index;
        }
    }
    return undefined;
}
