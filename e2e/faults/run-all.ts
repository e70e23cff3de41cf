import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { terminalReport } from '../../deploy/local/report.ts';
import { readMachineCpu } from '../load/cpu.ts';
import { type Ends, makeEnds } from '../load/driver.ts';
import { seconds } from '../load/report.ts';
import type { Baseline } from './bounds.ts';
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
    const run = (fault: Fault, more: Partial<RunOptions> = {}): Promise<FaultResult> =>
      runFault(scene, receiver, `http://127.0.0.1:${port}`, fault, { ...options, ...more });
    const fitting = options.isBusy ? {} : await fitLoad(run, options.say);
    return (fault) => run(fault, fitting);
  });

/** A load that leaves no processor time shows the machine and not the fault. */
const busyAtMost = 0.5;
const leastShare = 0.1;

/**
 * Runs the load without a fault, which also warms the processes up, and again if it has to be made smaller.
 * @returns how much of it the machine has room for, and what that takes without a fault.
 */
const fitLoad = async (
  run: (fault: Fault, more: Partial<RunOptions>) => Promise<FaultResult>,
  say: RunOptions['say'],
): Promise<{ readonly share: number; readonly baseline: Baseline }> => {
  const usedSeconds = (): readonly [used: number, at: number] => [readMachineCpu(), performance.now() / 1000];
  let [before, after] = [usedSeconds(), usedSeconds()];
  const nothing: Fault = {
    name: 'nothing, to measure the load',
    act: async () => {
      before = usedSeconds();
    },
    lastsMs: 5_000,
    heal: async () => {
      after = usedSeconds();
    },
  };
  let measured = await run(nothing, { isBusy: true });
  const busy = (after[0] - before[0]) / (after[1] - before[1]) / availableParallelism();
  // Part of the time does not shrink with the load.
  const share = busy <= busyAtMost ? 1 : Math.max(leastShare, (busyAtMost / busy) ** 2);
  if (share < 1) measured = await run(nothing, { isBusy: true, share });
  const baseline = { slowestMs: measured.slowestMs, latestDeliveryMs: measured.latestMs };
  const taken = `${Math.round(busy * 100)} % of the processors`;
  say(`  the load takes ${taken}${share < 1 ? `, so ${Math.round(share * 100)} % of it is used` : ''}`);
  say(
    `  without a fault, requests take ${seconds(baseline.slowestMs)} at most, deliveries ${seconds(baseline.latestDeliveryMs)}`,
  );
  return { share, baseline };
};

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
