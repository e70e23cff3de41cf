import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';

/**
 * Writes the types of the TypeScript client when a file of `proto/` is newer. Only the compiler and editors read them: Node leaves
 * types out, so nothing that runs needs the file. If `proto/` is being edited and does not load, the former types stay.
 */
export async function ensureClientTypes(root, node) {
  const proto = join(root, 'proto');
  const file = join(proto, 'client/interface.generated.ts');
  const writtenMs = existsSync(file) ? statSync(file).mtimeMs : 0;
  const isNewer = (name) =>
    name.endsWith('.ts') && !name.includes('node_modules') && statSync(join(proto, name)).mtimeMs > writtenMs;
  if (!readdirSync(proto, { recursive: true }).some(isNewer)) return;
  await run(node, ['proto/openapi/write.ts', '--client-types'], { cwd: root }).catch((error) =>
    process.stderr.write(
      `${error.output ?? error.message}\nThe types of proto/client could not be written.\n`,
    ),
  );
}
