import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { scopes } from '@causeway/proto';
import { cleanUp } from '@causeway/runtime/testing';
import { scratch } from '../../../e2e/runner/servers.ts';
import { openOperator } from '../../local/demo.ts';
import { readStack, type Stack, type StackProcess } from '../../local/home.ts';

export const temporary = (name: string): string => {
  const folder = mkdtempSync(join(scratch(), `causeway-${name}-`));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

export const makeCompany = async ({
  natsUrl,
}: Stack): Promise<{ readonly id: number; readonly key: string }> => {
  const operator = await openOperator(natsUrl);
  try {
    const { company_id } = await operator.ask('createCompany', { name: 'Test' });
    const unlimited = 1_000_000_000;
    await operator.ask('setLimits', { company_id, read: unlimited, write: unlimited, admin: unlimited });
    const { value } = await operator.ask('createKey', { company_id, name: 'test', scopes: [...scopes] });
    return { id: company_id, key: value };
  } finally {
    await operator.close();
  }
};

export const restart = async (home: string, name: string): Promise<void> => {
  const find = (): StackProcess | undefined => readStack(home)?.processes.find((one) => one.name === name);
  const before = find()?.pid;
  if (!before) throw new Error(`${name} does not run`);
  process.kill(before, 'SIGTERM');
  for (const endMs = Date.now() + 40_000; Date.now() < endMs; await sleep(50)) {
    const { pid, metricsUrl } = find() ?? { pid: null, metricsUrl: null };
    if (pid === null || pid === before || metricsUrl === null) continue;
    if (
      await fetch(`${metricsUrl}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
  }
  throw new Error(`${name} did not come back`);
};
