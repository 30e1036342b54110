import {build} from 'esbuild';

/** Builds the host page, once before all tests. */
export default async function buildPage(): Promise<void> {
    await build({
        entryPoints: ['page/host.tsx', 'page/host.css'],
        outdir: 'dist',
        bundle: true,
        jsx: 'transform',
        define: {'process.env.NODE_ENV': '"production"'},
    });
}
