import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import * as table from './table.ts';

/**
 * `build.ts <folder>` bundles a connector into its `dist`, with what it uses of the rest of `proto`: each file that its
 * `package.json` names in `dist` is made from the source of the same path.
 */
const folder = resolve(import.meta.dirname, process.argv[2]!);
const { main, n8n } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
  readonly main?: string;
  readonly n8n?: { readonly nodes: readonly string[]; readonly credentials: readonly string[] };
};
const outputs = n8n ? [...n8n.nodes, ...n8n.credentials] : [main!];
const names = outputs.map((file) => file.replace(/^dist\/|\.js$/g, ''));
/** A package holds the values of the table, and not what they come from. */
const asValues = {
  name: 'table',
  load: (id: string) =>
    id === join(import.meta.dirname, 'table.ts')
      ? `export const { actions, lookups, events } = ${JSON.stringify(table)};`
      : undefined,
};
const bundle = await rolldown({
  input: Object.fromEntries(names.map((name) => [name, join(folder, `${name}.ts`)])),
  external: ['n8n-workflow', 'zapier-platform-core'],
  plugins: [asValues],
});
const dist = join(folder, 'dist');
rmSync(dist, { recursive: true, force: true });
// n8n finds its own package for a node only through `require`.
await bundle.write({ dir: dist, format: n8n ? 'cjs' : 'esm', chunkFileNames: 'shared.js' });
await bundle.close();
if (n8n) {
  writeFileSync(join(dist, 'package.json'), '{"type":"commonjs"}\n');
  copyFileSync(join(folder, 'causeway.svg'), join(dist, 'causeway.svg'));
}
