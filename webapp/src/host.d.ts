// What Mattermost's web client gives to a plugin's script.

declare module '*.css?raw' {
    const content: string;
    export default content;
}

interface Window {
    /** The site's subpath, such as "/chat"; empty at the root of its host. */
    basename?: string;

    /** Called once by a plugin's script with the plugin's id. */
    registerPlugin: (id: string, plugin: import('./types').Plugin) => void;
}
