import {refresh, type Refreshed} from './calls';

/** For how long an answer counts, in milliseconds. */
const life = 5 * 60_000;

/** How many answers are kept. */
const most = 100;

const known = new Map<string, {at: number; items: Promise<Refreshed[]>}>();

/** What became of the files of the user's own post; nothing where that can't be told. The same is not asked for again at once. */
export function freshnessOf(postId: string): Promise<Refreshed[]> {
    const last = known.get(postId);
    if (last && Date.now() - last.at < life) {
        return last.items;
    }
    known.delete(postId);
    const items = refresh(postId, true).then((refreshed) => refreshed.items, () => []);
    known.set(postId, {at: Date.now(), items});
    const [oldest] = known.keys();
    if (known.size > most && oldest !== undefined) {
        known.delete(oldest);
    }
    return items;
}

/** Has the next question about a post asked. */
export function forgetFreshness(postId: string): void {
    known.delete(postId);
}
