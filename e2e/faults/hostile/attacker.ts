import { existsSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { Command, Flood } from './flood.ts';
import { floodJsonKeys } from './json-keys.ts';
import { floodSignIns } from './sign-ins.ts';

// An attacker in a process of its own. Argument 1 names the flood, argument 2 is its target as JSON. It runs the
// flood from each `start` to the next `stop`, and answers `stop` with its counts. It ends with its parent.

const floods: Readonly<Record<string, (target: never) => Flood>> = {
  floodJsonKeys,
  floodSignIns,
};
const lowestPriority = 19;
const [, , name = '', target = ''] = process.argv;
const flood = floods[name]?.(JSON.parse(target) as never);
if (!flood) throw new Error(`there is no flood ${name}`);
// Real attackers have machines of their own. Here they get the CPU time that the cluster and its healthy callers
// leave.
setPriority(lowestPriority);
// If Linux first shares CPU time among sessions, a priority applies only within a session (sched(7), "autogroup").
const group = '/proc/self/autogroup';
if (existsSync(group)) writeFileSync(group, String(lowestPriority));

const counts: Record<string, number> = {};
const count = (what: string): void => {
  counts[what] = (counts[what] ?? 0) + 1;
};
let ending = new AbortController();
let running: Promise<void> = Promise.resolve();
process.on('disconnect', () => process.exit());
process.on('message', (command: Command) => {
  if (command === 'start') {
    ending = new AbortController();
    running = flood(ending.signal, count);
    return;
  }
  ending.abort();
  void running.then(() => process.send?.(counts));
});
process.send?.('ready');
