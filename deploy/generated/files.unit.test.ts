import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { generatedFiles } from './files.ts';

test.each(generatedFiles)('$file.pathname is current: `npm run generate` writes it', ({ file, render }) => {
  expect(readFileSync(file, 'utf8')).toBe(render());
});
