// messages.mjs extract writes the English messages of each part; messages.mjs verify fails when they are not those of
// the code, or when a translation lacks one, has one too many, or has other placeholders.
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const parts = {start: 'src/*.ts*', picker: 'src/picker/*.ts*', doors: 'src/doors/*.ts*'};
const formatjs = (...args) => execFileSync('node_modules/.bin/formatjs', args, {stdio: ['ignore', 'ignore', 'inherit']});

for (const [part, sources] of Object.entries(parts)) {
    const english = `i18n/${part}/en.json`;
    const extract = (file) => formatjs('extract', sources, '--ignore', '**/*.d.ts', '--format', 'simple', '--out-file', file);
    if (process.argv[2] === 'extract') {
        extract(english);
        continue;
    }
    const fresh = join(mkdtempSync(join(tmpdir(), 'messages')), 'en.json');
    extract(fresh);
    if (readFileSync(fresh, 'utf8') !== readFileSync(english, 'utf8')) {
        throw new Error(`${english} is not what the code says: run npm run i18n:extract`);
    }
    formatjs('verify', '--source-locale', 'en', '--missing-keys', '--extra-keys', '--structural-equality', `i18n/${part}/*.json`);
}
