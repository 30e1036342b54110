import js from '@eslint/js';
import reactHooks from 'eslint-plugin-react-hooks';
import {defineConfig} from 'eslint/config';
import ts from 'typescript-eslint';

export default defineConfig(
    {ignores: ['dist/', 'screenshots/']},
    js.configs.recommended,
    {
        files: ['**/*.{ts,tsx}'],
        extends: [ts.configs.strictTypeChecked, ts.configs.stylisticTypeChecked, reactHooks.configs.flat.recommended],
        languageOptions: {parserOptions: {projectService: true, tsconfigRootDir: import.meta.dirname}},
        rules: {
            '@typescript-eslint/consistent-type-definitions': ['error', 'type'],
            '@typescript-eslint/restrict-template-expressions': ['error', {allowNumber: true}],
        },
    },
    {
        rules: {
            eqeqeq: 'error',
            'no-console': 'error',
            'prefer-const': 'error',
        },
    },
);
