import { build } from 'vite';
import { compress } from './compress.ts';

/** Builds the portal into `dist/` and lays compressed twins beside the files that gain by it. */
const configFile = new URL('../vite.config.ts', import.meta.url).pathname;
await build({ configFile, configLoader: 'native', logLevel: 'warn' });
const files = await compress(new URL('../dist/', import.meta.url));
console.log(`The portal is built: ${files} files.`);
