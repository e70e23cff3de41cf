import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { clientInterface, clientOperations } from '../client/generate.ts';
import { settingsSchemaText } from '../portal/settings.ts';
import { openApiDocument } from './document.ts';
import { breakingChanges, type Snapshot, snapshotOf, snapshotText } from './snapshot.ts';

/**
 * `npm run -s openapi` prints the document; with a path it writes it there. With `--snapshot` it records what
 * was added, unless something that clients rely on was taken away, and writes the table of the TypeScript client's operations and
 * the schema of the settings file. With `--client-types` it writes the types of that client, which are not committed.
 */
const path = process.argv[2];
const text = `${JSON.stringify(openApiDocument(), null, 2)}\n`;
if (path === '--snapshot') {
  const file = new URL('./snapshot.generated.json', import.meta.url);
  const snapshot = snapshotOf(openApiDocument());
  const breaking = breakingChanges(JSON.parse(readFileSync(file, 'utf8')) as Snapshot, snapshot);
  if (breaking.length > 0) throw new Error(`these changes break clients:\n${breaking.join('\n')}`);
  writeFileSync(file, `${snapshotText(snapshot)}\n`);
  writeFileSync(new URL('../client/operations.generated.ts', import.meta.url), clientOperations());
  writeFileSync(new URL('../portal/settings.generated.json', import.meta.url), settingsSchemaText());
} else if (path === '--client-types') {
  const file = new URL('../client/interface.generated.ts', import.meta.url);
  const unfinished = new URL(`../client/.${process.pid}.generated.ts`, import.meta.url);
  writeFileSync(unfinished, clientInterface());
  // A compiler that runs meanwhile reads the whole file.
  renameSync(unfinished, file);
} else if (path) writeFileSync(path, text);
else process.stdout.write(text);
