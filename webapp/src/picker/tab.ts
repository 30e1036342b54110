/** A window of the user's browser in which he signs in. */
export type Tab = {

    /** Shows a page; false when the browser has blocked the window. */
    show: (page: string) => boolean;

    /** Closes the window if nothing was shown in it. */
    drop: () => void;
};

/**
 * Opens the window at once: a browser allows it at the click, and not when the server's answer
 * is there. The page in it has no way back to this one. Mattermost's desktop app
 * opens no empty window, but hands addresses to the browser whenever it is asked to.
 */
export function openTab(): Tab {
    if (navigator.userAgent.includes('Electron')) {
        return {
            show: (page) => {
                window.open(page, '_blank', 'noopener,noreferrer');
                return true;
            },
            drop: () => undefined,
        };
    }
    const tab = window.open('about:blank', '_blank');
    if (tab) {
        tab.opener = null;
    }
    return {
        show: (page) => {
            tab?.location.replace(page);
            return tab !== null;
        },
        drop: () => {
            tab?.close();
        },
    };
}
