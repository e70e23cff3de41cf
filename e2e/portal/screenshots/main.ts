import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { readEnv } from '@causeway/runtime';

// npm run screenshots -- [FOLDER]: every page of the portal in both themes, wide and narrow, on a cluster of
// their own with real traffic.

const root = resolve(import.meta.dirname, '../../..');
const folder = resolve(process.argv[2] ?? join(root, '.stack/screenshots'));
const child = spawn(
  process.execPath,
  [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project=screenshots'],
  { cwd: root, env: { ...readEnv(), SCREENSHOTS_FOLDER: folder }, stdio: 'inherit' },
);
const [code] = await once(child, 'exit');
process.stdout.write(`The screenshots are in ${folder}.\n`);
process.exit(code ?? 1);
