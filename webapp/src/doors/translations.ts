import type {Words} from '../picker/translations';

const languages: Record<string, () => Promise<{default: Words}>> = {
    de: () => import(/* webpackChunkName: "doors-de" */ '../../i18n/doors/de.json'),
    es: () => import(/* webpackChunkName: "doors-es" */ '../../i18n/doors/es.json'),
    fr: () => import(/* webpackChunkName: "doors-fr" */ '../../i18n/doors/fr.json'),
    ja: () => import(/* webpackChunkName: "doors-ja" */ '../../i18n/doors/ja.json'),
};

/** The words of cards, of saving and of the account for a locale such as de or pt-BR. English ones are in the code itself. */
export async function loadDoorWords(locale: string): Promise<Words> {
    const load = languages[locale.split('-')[0] ?? ''];
    return load ? (await load()).default : {};
}
