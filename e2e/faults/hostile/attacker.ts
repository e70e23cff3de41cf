import { existsSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { Command, Flood } from './flood.ts';
import { floodJsonKeys } from './json-keys.ts';
import { floodSignIns } from './sign-ins.ts';
import { floodTinyChunks } from './tiny-chunks.ts';
import { floodUnreadAnswers } from './unread-answers.ts';

// An attacker, as a program of its own: argument 1 names the flood, argument 2 is its target as JSON. Runs the flood
// from each `start` to the next `stop`, which it answers with what it has counted. Ends with its parent.

const floods: Readonly<Record<string, (target: never) => Flood>> = {
  floodJsonKeys,
  floodSignIns,
  floodTinyChunks,
  floodUnreadAnswers,
};
const lowestPriority = 19;
const [, , name = '', target = ''] = process.argv;
const flood = floods[name]?.(JSON.parse(target) as never);
if (!flood) throw new Error(`there is no flood ${name}`);
// Attackers have machines of their own. Here they take what the cluster and its healthy callers leave of the processors.
setPriority(lowestPriority);
// Where Linux shares processors among sessions first, a priority holds within a session alone (sched(7), "autogroup").
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
