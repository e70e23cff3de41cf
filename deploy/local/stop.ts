import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readEnv } from '@causeway/runtime/client';
import { endLeftovers } from './guarded.ts';
import { claim, homeOf, removeStack, supervisorOf } from './home.ts';
import { giveUp, step } from './toolchain/terminal.mjs';

const root = resolve(import.meta.dirname, '../..');
const timeoutMs = 120_000;

const main = async (): Promise<void> => {
  const home = homeOf(readEnv(), root);
  const claimed = existsSync(home) ? await claim(home) : () => {};
  if (claimed) {
    await endLeftovers(home, 10_000);
    removeStack(home);
    process.stdout.write(`Nothing runs in ${home}.\n`);
    return claimed();
  }
  process.kill(supervisorOf(home), 'SIGTERM');
  await step('stopping', () => untilFree(home));
  process.stdout.write('Stopped; everything is kept for the next start.\n');
};

const untilFree = async (home: string): Promise<void> => {
  for (const endMs = Date.now() + timeoutMs; ; await sleep(100)) {
    const release = await claim(home);
    if (release) return release();
    if (Date.now() > endMs) throw new Error(`The stack in ${home} did not stop within ${timeoutMs / 1000} s`);
  }
};

await main().catch(giveUp);
