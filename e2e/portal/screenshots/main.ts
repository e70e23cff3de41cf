import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { readEnv } from '@causeway/runtime';

// npm run screenshots -- [FOLDER [NAMES]]: every page of the portal in both themes and three widths, on a cluster of
// their own, with long names, many rows, failures, no data, no connection, and as a viewer. NAMES is a regular
// expression that leaves out other pages.

const root = resolve(import.meta.dirname, '../../..');
const folder = resolve(process.argv[2] ?? join(root, '.stack/screenshots'));
const child = spawn(
  process.execPath,
  [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project=screenshots'],
  {
    cwd: root,
    env: { ...readEnv(), SCREENSHOTS_FOLDER: folder, SCREENSHOTS_NAMES: process.argv[3] ?? '' },
    stdio: 'inherit',
  },
);
const [code] = await once(child, 'exit');
process.stdout.write(`The screenshots are in ${folder}.\n`);
process.exit(code ?? 1);
