import type {Capabilities, Entry} from '../types';

/** An entry as a host has it; its id follows from its path. */
export function entry(path: string, changed: Partial<Entry> = {}): Entry {
    const name = path.split('/').at(-1) ?? '';
    const kind = name.includes('.') ? 'file' : 'folder';
    return {
        id: `id:${path}`,
        name,
        path,
        kind,
        size: kind === 'file' ? 1024 * 1024 : 0,
        mime_type: kind === 'file' ? 'application/pdf' : '',
        modified_at: '2026-03-14T15:09:26Z',
        etag: '"1"',
        permissions: ['read'],
        has_thumbnail: false,
        ...changed,
    };
}

/** A few folders in one another, and files in each. */
export function tree(): Entry[] {
    return [
        entry('/Photos'),
        entry('/Photos/Summer'),
        entry('/Photos/Summer/beach.jpg', {mime_type: 'image/jpeg', has_thumbnail: true}),
        entry('/Photos/team.jpg', {mime_type: 'image/jpeg', has_thumbnail: true}),
        entry('/Plan.pdf'),
        entry('/empty.txt', {size: 0, mime_type: 'text/plain'}),
        entry('/film.mov', {size: 5 * 1024 ** 3, mime_type: 'video/quicktime'}),
        entry('/locked.pdf', {permissions: []}),
    ];
}

const capabilities: Capabilities = {search: true, recent: true, favorites: true, shared: false, thumbnails: true};

/** Answers GET /files as the plugin does, for entries that are sorted by name already. */
export function answerFiles(entries: readonly Entry[], pageSize: number, query: URLSearchParams): Response {
    const [view, path, id, words] = ['view', 'path', 'id', 'q'].map((name) => query.get(name));
    const types = query.getAll('type');
    const below = id ? entries.find((folder) => folder.id === id)?.path ?? '' : path ?? '/';
    const prefix = below === '/' ? '/' : `${below}/`;
    const matching = entries.filter((one) => {
        const inside = one.path.startsWith(prefix);
        const ofType = types.length === 0 || types.some((type) => type === one.kind || (one.mime_type !== '' && one.mime_type.startsWith(type)));
        if (words) {
            return inside && ofType && one.name.toLowerCase().includes(words.toLowerCase());
        }
        switch (view) {
        case 'recent':
            return one.kind === 'file' && ofType;
        case 'favorites':
            return one.favorite === true && ofType;
        default:
            return inside && ofType && !one.path.slice(prefix.length).includes('/');
        }
    });
    const from = Number(query.get('cursor') ?? 0);
    const to = from + Math.min(Number(query.get('limit')), pageSize);
    return Response.json({
        entries: query.get('order') === 'desc' && view !== 'recent' ? matching.reverse().slice(from, to) : matching.slice(from, to),
        total: matching.length,
        ...(to < matching.length && {next_cursor: String(to)}),
        capabilities,
    });
}
