import { rename, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { compress } from './compress.ts';

// Builds the portal into `dist/`, with compressed twins beside the files that gain by it. It is made elsewhere
// and put in place whole, as gateways that are running look at the folder.

const dist = new URL('../dist/', import.meta.url);
const made = new URL('../../node_modules/.portal-build/', import.meta.url);

// What starts this may be a test; the pages are always those for people.
process.env.NODE_ENV = 'production';

await build({
  configFile: fileURLToPath(new URL('../vite.config.ts', import.meta.url)),
  configLoader: 'native',
  logLevel: 'warn',
  build: { outDir: fileURLToPath(made), emptyOutDir: true },
});
const files = await compress(made);
await rm(dist, { recursive: true, force: true });
await rename(made, dist);
console.log(`The portal is built: ${files} files.`);
