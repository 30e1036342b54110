/** Puts a text into the clipboard; false when the browser does not let us. */
export async function copyText(text: string): Promise<boolean> {
    // A site without TLS has no such object.
    const clipboard = navigator.clipboard as Clipboard | undefined;
    try {
        await clipboard?.writeText(text);
        return clipboard !== undefined || copySelected(text);
    } catch {
        return copySelected(text);
    }
}

function copySelected(text: string): boolean {
    const before = document.activeElement;
    const field = document.createElement('textarea');
    field.value = text;
    field.style.position = 'fixed';
    field.style.opacity = '0';
    document.body.append(field);
    field.select();
    try {
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way on a site without TLS
        return document.execCommand('copy');
    } catch {
        return false;
    } finally {
        field.remove();
        if (before instanceof HTMLElement) {
            before.focus();
        }
    }
}
