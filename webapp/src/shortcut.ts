/** Calls `open` with the editor in which Ctrl+Alt+O is pressed, or Command+Option+O on a Mac. */
export function onShortcut(open: (form: Element) => void): (event: KeyboardEvent) => void {
    return (event) => {
        const form = event.target instanceof Element ? event.target.closest('form') : null;

        // By the place of the key: with Option, and in other scripts, it writes another letter. AltGr is no Ctrl+Alt.
        const wanted = event.code === 'KeyO' && event.altKey && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.getModifierState('AltGraph');
        if (wanted && form?.querySelector('textarea')) {
            event.preventDefault();
            open(form);
        }
    };
}
