import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { build } from 'vite';

// Builds elsewhere and puts the result in place whole, because running gateways read the folder.

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

const compress = async (folder: URL): Promise<number> => {
  const root = fileURLToPath(folder);
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files) {
    if (!/\.(?:js|css|html|svg|json)$/.test(file)) continue;
    const bytes = await readFile(file);
    await writeFile(`${file}.br`, await toBrotli(bytes));
    await writeFile(`${file}.gz`, await toGzip(bytes, { level: 9 }));
  }
  return files.length;
};

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
