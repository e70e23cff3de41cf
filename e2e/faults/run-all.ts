import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { terminalReport } from '../../deploy/local/report.ts';
import { type Ends, makeEnds } from '../load/driver.ts';
import type { Fault } from './fault.ts';
import type { Attack } from './hostile/attack.ts';
import { type AttackResult, runAttack } from './hostile/measure.ts';
import { openVictims } from './hostile/victims.ts';
import { openReceiver, type Receiver } from './receiver.ts';
import { type FaultResult, type RunOptions, runFault } from './run.ts';
import { openPlace, openScene, type SceneOptions } from './scene.ts';

interface AllOptions extends RunOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly onEnd: Ends['onEnd'];
}

type Take<Result> = (result: Result) => void;

/** Runs faults one after another on one cluster. */
export const runFaults = (
  faults: readonly Fault[],
  options: AllOptions,
  take: Take<FaultResult>,
): Promise<void> =>
  inCluster(faults, options, take, async (place, receiver) => {
    const scene = await openScene(place);
    const port = await scene.links.port('dispatchers', 'receiver', Number(new URL(receiver.url).port));
    return (fault) => runFault(scene, receiver, `http://127.0.0.1:${port}`, fault, options);
  });

/** Runs attacks one after another on one cluster. */
export const runAttacks = (
  attacks: readonly Attack[],
  options: AllOptions,
  take: Take<AttackResult>,
): Promise<void> =>
  inCluster(attacks, options, take, async (home, receiver) => {
    const place = await openPlace(home);
    const victims = await openVictims(place.world);
    return (attack) => runAttack(place, receiver, victims, attack, options);
  });

/** Opens a cluster, runs each fault on it, and stops it. */
const inCluster = async <One, Result extends FaultResult>(
  all: readonly One[],
  { env, onEnd, say }: AllOptions,
  take: Take<Result>,
  open: (place: SceneOptions, receiver: Receiver) => Promise<(one: One) => Promise<Result>>,
): Promise<void> => {
  if (all.length === 0) return;
  const ends = makeEnds();
  onEnd(ends.end);
  let fine = 0;
  const home = mkdtempSync(join(tmpdir(), 'causeway-faults-'));
  ends.onEnd(async () => {
    // Keeps the logs of the processes if a fault failed.
    if (fine === all.length) rmSync(home, { recursive: true, force: true });
    else say(`logs: ${home}/logs`);
  });
  const receiver = await openReceiver();
  ends.onEnd(() => receiver.close());
  const run = await open({ home, env, report: terminalReport, onEnd: ends.onEnd }, receiver);
  for (const one of all) {
    const result = await run(one);
    take(result);
    if (result.complaints.length === 0) fine++;
    for (const complaint of result.complaints) say(`    ✗ ${complaint}`);
  }
  await ends.end();
};
