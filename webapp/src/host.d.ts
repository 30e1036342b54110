// What Mattermost's web client gives to a plugin's script.

declare module '*.css?raw' {
    const content: string;
    export default content;
}

interface Window {
    /** The site's subpath, such as "/chat"; empty at the root of its host. */
    basename?: string;

    /** Formats the text of posts: the first makes HTML that is safe to show, the second what React can. Missing in some versions. */
    PostUtils?: {
        formatText: (text: string, options: {atMentions: boolean}) => string;
        messageHtmlToComponent: (html: string) => import('react').ReactNode;
    };

    /** Called once by a plugin's script with the plugin's id. */
    registerPlugin: (id: string, plugin: import('./types').Plugin) => void;
}
