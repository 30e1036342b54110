import {gzipSync} from 'node:zlib';

/** What each script may weigh, compressed, in bytes: main.js is loaded with each page, the others when they are needed. */
const budgetOf = (name) => (name === 'main.js' ? 15 : 90) * 1024;

/** Prints the compressed size of each script and fails the build when one is over its budget. */
class Weigh {
    apply(compiler) {
        compiler.hooks.thisCompilation.tap('Weigh', (compilation) => {
            const stage = compiler.webpack.Compilation.PROCESS_ASSETS_STAGE_REPORT;
            compilation.hooks.processAssets.tap({name: 'Weigh', stage}, (assets) => {
                for (const [name, source] of Object.entries(assets)) {
                    const weight = gzipSync(source.buffer()).length;
                    const budget = budgetOf(name);
                    // eslint-disable-next-line no-console -- the report of the build
                    console.log(`${name}: ${(weight / 1024).toFixed(1)} KiB gzip`);
                    if (weight > budget) {
                        compilation.errors.push(new Error(`${name} weighs ${weight} bytes, more than its ${budget}`));
                    }
                }
            });
        });
    }
}

export default {
    mode: 'production',
    entry: './src/index.tsx',
    resolve: {extensions: ['.ts', '.tsx', '.js']},
    module: {
        rules: [
            {resourceQuery: /raw/, type: 'asset/source'},
            {
                test: /\.tsx?$/,
                loader: 'ts-loader',

                // Types are checked on their own. JSX becomes React.createElement (tsconfig.json), which
                // needs nothing but the host's React, also the React 17 of old servers.
                options: {transpileOnly: true, compilerOptions: {noEmit: false}},
            },
        ],
    },

    // The host provides these as globals.
    externals: {
        react: 'React',
        'react-dom': 'ReactDOM',
        'react-intl': 'ReactIntl',
        'react-bootstrap': 'ReactBootstrap',
    },
    output: {
        // The server renames main.js only; it serves the other files of the folder under
        // /static/plugins/, cached for a year, hence the hash. 'auto' keeps a site's subpath.
        publicPath: 'auto',
        filename: 'main.js',
        chunkFilename: '[name].[contenthash:12].js',
        uniqueName: 'filehost-attach',
        clean: true,
    },
    optimization: {splitChunks: false},
    performance: {hints: false},
    stats: 'errors-warnings',
    plugins: [new Weigh()],
};
