import js from '@eslint/js';
import formatjs from 'eslint-plugin-formatjs';
import reactHooks from 'eslint-plugin-react-hooks';
import {defineConfig} from 'eslint/config';
import ts from 'typescript-eslint';

export default defineConfig(
    {ignores: ['dist/']},
    js.configs.recommended,
    {
        files: ['**/*.{ts,tsx}'],
        extends: [ts.configs.strictTypeChecked, ts.configs.stylisticTypeChecked, reactHooks.configs.flat.recommended],
        languageOptions: {parserOptions: {projectService: true, tsconfigRootDir: import.meta.dirname}},
        rules: {
            '@typescript-eslint/consistent-type-definitions': ['error', 'type'],
            '@typescript-eslint/no-unused-vars': ['error', {ignoreRestSiblings: true}],
            '@typescript-eslint/restrict-template-expressions': ['error', {allowNumber: true}],
        },
    },
    {
        // Everything that a person reads is a message with an id and a description.
        files: ['src/**/*.{ts,tsx}'],
        ignores: ['src/**/*.test.tsx', 'src/test/**'],
        plugins: {formatjs},
        rules: {
            'formatjs/enforce-default-message': ['error', 'literal'],
            'formatjs/enforce-description': ['error', 'literal'],
            'formatjs/enforce-id': ['error', {idInterpolationPattern: 'ignored', idWhitelist: ['^filehost-attach\\.']}],
            'formatjs/enforce-placeholders': 'error',
            'formatjs/no-literal-string-in-jsx': 'error',
            'formatjs/no-multiple-whitespaces': 'error',
        },
    },
    {
        // An interface adds to one that the browser declares.
        files: ['**/*.d.ts'],
        rules: {'@typescript-eslint/consistent-type-definitions': 'off'},
    },
    {
        files: ['**/*.mjs'],
        languageOptions: {globals: {console: 'readonly', process: 'readonly'}},
    },
    {
        rules: {
            eqeqeq: 'error',
            'no-console': 'error',
            'prefer-const': 'error',
        },
    },
);
