import {defineConfig} from 'vitest/config';

export default defineConfig({
    test: {
        include: ['src/**/*.test.ts'],

        // One server and one browser for all; some tests change the plugin's settings.
        fileParallelism: false,
        testTimeout: 60_000,
        hookTimeout: 60_000,
    },
});
