import {loadWords, type Words} from '../picker/translations';
import {loadDoorWords} from './translations';

/** The words of all parts for a locale. */
export async function loadAllWords(locale: string): Promise<Words> {
    const [picker, doors] = await Promise.all([loadWords(locale), loadDoorWords(locale)]);
    return {...picker, ...doors};
}
