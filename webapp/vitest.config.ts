import {defineConfig} from 'vitest/config';

export default defineConfig({
    test: {
        environment: 'jsdom',
        include: ['src/**/*.test.{ts,tsx}'],
        setupFiles: ['src/test/setup.ts'],
        restoreMocks: true,
        testTimeout: 30_000,

        // React's complaints about the host's react-bootstrap, which is not ours to change.
        onConsoleLog: (log) => !/findDOMNode|legacy (child)?[cC]ontextTypes/.test(log),
    },
});
