import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { targetsOf, watchSources } from './watch.ts';

const everyService = ['access', 'crm', 'webhooks', 'dispatcher', 'gateway', 'agents'];

test.each([
  ['services/crm/actions/people.ts', ['crm']],
  ['services/runtime/log.ts', everyService],
  ['proto/events/index.ts', [...everyService, 'portal']],
  ['admin-ui/src/main.tsx', ['portal']],
  ['services/crm/find.integration.test.ts', []],
  ['services/crm/testing/boot.ts', []],
  ['services/crm/node_modules/zod/index.ts', []],
  ['services/webhooks/README.md', []],
])('a change of %s concerns %j', (file, targets) => {
  expect(targetsOf(file)).toEqual(targets);
});

const root = mkdtempSync(join(tmpdir(), 'causeway-watch-'));
const stopping = new AbortController();
afterAll(() => {
  stopping.abort();
  rmSync(root, { recursive: true });
});

test('files written together restart their service once, and later changes restart it again', async () => {
  for (const folder of ['proto', 'services/crm/find', 'admin-ui/src', 'admin-ui/static']) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  const restarted: string[] = [];
  const restart = async (service: string) => void restarted.push(service);
  const report = { line: () => {}, step: <Result>(_: string, work: () => Promise<Result>) => work() };
  watchSources({ root, cluster: { restart }, report, signal: stopping.signal });

  writeFileSync(join(root, 'services/crm/find/one.ts'), '1');
  writeFileSync(join(root, 'services/crm/find/two.ts'), '2');
  await expect.poll(() => restarted).toEqual(['crm']);
  writeFileSync(join(root, 'services/crm/find/one.ts'), '3');
  await expect.poll(() => restarted).toEqual(['crm', 'crm']);
});
