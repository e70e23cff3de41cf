import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

/** Writes `.br` and `.gz` beside each text file of a folder; answers how many files the folder had. */
export const compress = async (folder: URL): Promise<number> => {
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
