import js from '@eslint/js';

export default [
    js.configs.recommended,
    {
        languageOptions: {globals: {process: 'readonly', URL: 'readonly', URLSearchParams: 'readonly'}},
        rules: {eqeqeq: 'error', 'no-console': 'error', 'prefer-const': 'error'},
    },
];
