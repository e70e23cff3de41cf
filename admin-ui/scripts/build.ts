import { build } from 'vite';
import { compress } from './compress.ts';

// Builds the portal into `dist/` and lays compressed twins beside the files that gain by it.

// What starts this may be a test; the pages are always those for people.
process.env.NODE_ENV = 'production';

const configFile = new URL('../vite.config.ts', import.meta.url).pathname;
await build({ configFile, configLoader: 'native', logLevel: 'warn' });
const files = await compress(new URL('../dist/', import.meta.url));
console.log(`The portal is built: ${files} files.`);
