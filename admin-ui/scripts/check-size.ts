import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/**
 * Says how much each part of the built portal weighs, gzipped, and fails where one weighs more than it may.
 * Run it after a build.
 */
const dist = new URL('../dist/', import.meta.url);
const KiB = 1024;

interface Chunk {
  readonly file: string;
  readonly src?: string;
  readonly name?: string;
  readonly isEntry?: boolean;
  readonly isDynamicEntry?: boolean;
  readonly imports?: readonly string[];
}

const manifest: Readonly<Record<string, Chunk>> = JSON.parse(
  readFileSync(new URL('.vite/manifest.json', dist), 'utf8'),
);

const weighFile = (file: string): number => gzipSync(readFileSync(new URL(file, dist)), { level: 9 }).length;

/** A chunk and all that it cannot run without. */
const closure = (name: string, seen = new Set<string>()): Set<string> => {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const imported of manifest[name]?.imports ?? []) closure(imported, seen);
  return seen;
};

const fileOf = (name: string): string => {
  const file = manifest[name]?.file;
  if (file === undefined) throw new Error(`the build has no part ${name}`);
  return file;
};

const union = (...sets: readonly Set<string>[]): Set<string> => new Set(sets.flatMap((set) => [...set]));
const weigh = (names: ReadonlySet<string>): number =>
  [...names].reduce((sum, name) => sum + weighFile(fileOf(name)), 0);

const entry = closure('index.html');
const page = (path: string): Set<string> => closure(`src/${path}.tsx`);
const shell = union(entry, page('app/shell/shell'));
const signIn = union(entry, page('pages/sign-in/sign-in-page'));
const first = union(shell, page('pages/overview/overview-page'));
const overlays = closure(
  Object.keys(manifest).find((name) => manifest[name]?.name === 'overlays') ?? 'overlays',
);
const editor = 'src/ui/editor/code-mirror.tsx';

const lazy = Object.keys(manifest).filter(
  (name) => manifest[name]?.isDynamicEntry && name !== editor && !shell.has(name),
);
const allCss = readdirSync(new URL('assets/', dist)).filter((file) => file.endsWith('.css'));

const parts: readonly { readonly name: string; readonly bytes: number; readonly limitKiB: number }[] = [
  // The form is part of `index.html`; the application loads while the person types.
  { name: 'sign-in, before its form can be filled in', bytes: weighFile('theme-init.js'), limitKiB: 2 },
  { name: 'sign-in, with the application', bytes: weigh(signIn), limitKiB: 118 },
  { name: 'first signed-in page', bytes: weigh(first), limitKiB: 135 },
  ...lazy.map((name) => ({
    name: name.replace(/^src\//, ''),
    bytes: weigh(closure(name).difference(shell).difference(overlays)),
    limitKiB: 25,
  })),
  { name: 'editor', bytes: weigh(closure(editor).difference(shell)), limitKiB: 115 },
  { name: 'overlays: menus, dialogs, messages', bytes: weigh(overlays.difference(shell)), limitKiB: 60 },
  {
    name: 'styles, all pages',
    bytes: allCss.reduce((sum, file) => sum + weighFile(`assets/${file}`), 0),
    limitKiB: 15,
  },
];

let failed = false;
for (const { name, bytes, limitKiB } of parts) {
  const over = bytes > limitKiB * KiB;
  failed ||= over;
  const weight = `${(bytes / KiB).toFixed(1)} KiB of ${limitKiB}`;
  console.log(`${over ? '✗' : '✓'} ${name.padEnd(46)} ${weight.padStart(18)}`);
}
process.exitCode = failed ? 1 : 0;
