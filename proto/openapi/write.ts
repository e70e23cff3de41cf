import { renameSync, writeFileSync } from 'node:fs';
import { clientInterface } from '../client/generate.ts';
import { openApiDocument } from './document.ts';

/**
 * `npm run -s openapi` prints the document; with a path it writes it there. With `--client-types` it writes the types of the
 * TypeScript client, which are not committed.
 */
const path = process.argv[2];
const text = `${JSON.stringify(openApiDocument(), null, 2)}\n`;
if (path === '--client-types') {
  const file = new URL('../client/interface.generated.ts', import.meta.url);
  const unfinished = new URL(`../client/.${process.pid}.generated.ts`, import.meta.url);
  writeFileSync(unfinished, clientInterface());
  // A compiler that runs meanwhile reads the whole file.
  renameSync(unfinished, file);
} else if (path) writeFileSync(path, text);
else process.stdout.write(text);
