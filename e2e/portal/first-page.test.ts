import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
}

/** The build that the cluster serves. */
const dist = new URL('../../admin-ui/dist/', import.meta.url);
const chunks: Readonly<Record<string, Chunk>> = JSON.parse(
  readFileSync(new URL('.vite/manifest.json', dist), 'utf8'),
);

/** A chunk and all that it imports. */
const withImports = (name: string): string[] => [
  name,
  ...(chunks[name]?.imports ?? []).flatMap((imported) => withImports(imported)),
];

/** Gzipped. Menus and dialogs load when the page is shown. */
const weigh = (...names: readonly string[]): number =>
  [...new Set(names.flatMap(withImports))]
    .map((name) => gzipSync(readFileSync(new URL(chunks[name]!.file, dist)), { level: 9 }).length)
    .reduce((sum, bytes) => sum + bytes, 0);

test.each(['overview/overview-page', 'sign-in/sign-in-page'])(
  'The script of %s, the first page for many, weighs at most 160 KiB',
  (page) => {
    expect(weigh('index.html', `src/pages/${page}.tsx`)).toBeLessThanOrEqual(160 * 1024);
  },
);
