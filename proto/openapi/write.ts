import { writeFileSync } from 'node:fs';
import { openApiDocument } from './document.ts';

// `npm run -s openapi` prints the document; with a path it writes it there.
const text = `${JSON.stringify(openApiDocument(), null, 2)}\n`;
const path = process.argv[2];
if (path) writeFileSync(path, text);
else process.stdout.write(text);
