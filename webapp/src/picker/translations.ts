/** The words of the picker in a language; those that are missing are English. */
export type Words = Record<string, string>;

const languages: Record<string, () => Promise<{default: Words}>> = {
    de: () => import(/* webpackChunkName: "de" */ '../../i18n/picker/de.json'),
    es: () => import(/* webpackChunkName: "es" */ '../../i18n/picker/es.json'),
    fr: () => import(/* webpackChunkName: "fr" */ '../../i18n/picker/fr.json'),
    ja: () => import(/* webpackChunkName: "ja" */ '../../i18n/picker/ja.json'),
};

/** The words for a locale such as de or pt-BR. English ones are in the code itself. */
export async function loadWords(locale: string): Promise<Words> {
    const load = languages[locale.split('-')[0] ?? ''];
    return load ? (await load()).default : {};
}
