/**
 * The poster's own words in the message of a post with a card: what stands before the lines of its links. Where the end of
 * the message is not as many such lines as there are links, somebody has edited it, and all of it is shown.
 */
export function ownWords(message: string, links: number): string {
    const end = message.lastIndexOf('\n\n');
    const lines = message.slice(end === -1 ? 0 : end + 2).split('\n');
    const made = lines.length === links && lines.every((line) => line.split(' · ').length >= 4);
    return made ? message.slice(0, Math.max(0, end)) : message;
}
