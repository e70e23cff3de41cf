import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readEnv } from '@causeway/runtime';

// npm run fuzz -- [--requests N] [--seed N]: the fuzzers alone, on a cluster of their own, from another seed or for
// longer than `npm test` has time for.

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const child = spawn(
  process.execPath,
  [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project=api', '--project=api-alone', 'e2e/fuzz'],
  {
    cwd: root,
    env: { ...readEnv(), FUZZ_REQUESTS: values.requests, FUZZ_SEED: values.seed },
    stdio: 'inherit',
  },
);
const [code] = await once(child, 'exit');
process.exit(code ?? 1);
