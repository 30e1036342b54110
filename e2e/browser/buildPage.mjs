import {build} from 'esbuild';

// Builds the host page, for each version of React that supported servers have.

const options = {
    bundle: true,
    jsx: 'transform',
    define: {'process.env.NODE_ENV': '"production"'},
};

await build({...options, entryPoints: ['page/host.css'], outfile: 'dist/host.css'});
await build({...options, entryPoints: ['page/host.tsx'], outfile: 'dist/react-18.js'});
await build({
    ...options,
    entryPoints: ['page/host.tsx'],
    outfile: 'dist/react-17.js',
    alias: {'react-dom/client': './page/client17.ts', 'react-dom': 'react-dom-17', react: 'react-17'},
});
