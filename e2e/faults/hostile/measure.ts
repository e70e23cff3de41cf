import { setTimeout as sleep } from 'node:timers/promises';
import { type Memory, watchMemory } from '../../api/support/memory.ts';
import { pidOf, processesOf } from '../../api/support/processes.ts';
import { readCpu, usedBetween } from '../../load/cpu.ts';
import { percentile } from '../../load/report.ts';
import type { Fault, Place } from '../fault.ts';
import type { Receiver } from '../receiver.ts';
import { type FaultResult, type RunOptions, runFault } from '../run.ts';
import { type Assault, type Attack, type Samples, type Span, within } from './attack.ts';
import type { Victims } from './victims.ts';

/** The effect of an attack on the memory of processes and on healthy callers, in one run. */
export interface AttackResult extends FaultResult {
  /** A summary of the attack. */
  readonly summary: string;
  readonly processes: readonly ProcessResult[];
  readonly callers: readonly CallerResult[];
}

interface ProcessResult extends Memory {
  readonly name: string;
  readonly growthMiB: number;
  /** CPU time used, as a share of one processor. */
  readonly cpuUndisturbed: number;
  readonly cpuAttacked: number;
}

interface CallerResult {
  readonly caller: string;
  readonly undisturbedMs: Percentiles;
  readonly attackedMs: Percentiles;
  /** Ratio of the 99th percentiles. */
  readonly ratio: number;
}

interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
}

const maxRatio = 2;
/** The time after an attack that still counts as part of it. */
const aftermathMs = 500;

/** Alternates between attacking the cluster and leaving it alone, with the load and the checks of every fault. */
export const runAttack = async (
  place: Place,
  receiver: Receiver,
  victims: Victims,
  attack: Attack,
  options: RunOptions,
): Promise<AttackResult> => {
  const { world } = place;
  const spans: Span[] = [];
  const measured: Samples[] = [];
  const complaints: string[] = [];
  let processes: readonly ProcessResult[] = [];
  let assault: Assault | undefined;
  const names = [...new Set(['gateway-1', attack.target])];
  const spend = async (attacked: boolean, ms: number): Promise<void> => {
    const pids = new Map(names.map((name) => [name, pidOf(world, name)]));
    const fromMs = performance.now();
    const before = readCpu(pids);
    await sleep(ms);
    spans.push({
      attacked,
      fromMs,
      toMs: performance.now(),
      cpu: usedBetween(before, readCpu(pids)),
    });
  };
  const fault: Fault<Place> = {
    name: attack.name,
    unnoticed: true,
    bounds: { repeatedAtMost: 0 },
    prepare: async () => {
      assault = await attack.prepare(world, receiver.url);
    },
    act: async () => {
      const calls = victims.start();
      const memories = names.map((name) => ({ name, memory: watchMemory(processesOf(world, name)) }));
      // Connections are open and code is compiled before the first measurement.
      await sleep(1_000);
      for (let round = 0; round < attack.rounds; round++) {
        await spend(false, attack.undisturbedMs);
        await assault!.start();
        await spend(true, attack.attackedMs);
        await assault!.stop();
        await spend(true, aftermathMs);
      }
      const { samples, complaints: ofCalls } = await calls.stop();
      processes = memories.map(({ name, memory }) => ({
        name,
        ...memory.stop(),
        growthMiB: attack.growthMiB,
        cpuUndisturbed: cpuShare(spans, name, false),
        cpuAttacked: cpuShare(spans, name, true),
      }));
      measured.push(...samples);
      complaints.push(...ofCalls);
      return undefined;
    },
    lastsMs: 0,
    restore: async () => {
      measured.push(...((await assault!.samples?.()) ?? []));
      await assault!.close();
    },
  };
  const result = await runFault(place, receiver, receiver.url, fault, options);
  const creates = result.calls
    .filter(({ by }) => by === 'creator')
    .map(({ sentMs, endedMs }) => ({ atMs: sentMs, elapsedMs: endedMs - sentMs }));
  measured.push({ caller: 'API key, POST clients', all: creates });
  measured.push({ caller: 'webhook, first attempt', all: result.firstAttempts });
  const callers = measured.map((samples) => compare(samples, spans));
  return {
    ...result,
    summary: assault?.summary() ?? '',
    processes,
    callers,
    complaints: [
      ...result.complaints,
      ...complaints,
      ...processes.flatMap(complaintsOfMemory),
      ...callers.flatMap(complaintsOfCaller),
    ],
  };
};

const cpuShare = (spans: readonly Span[], name: string, attacked: boolean): number => {
  const chosen = spans.filter((span) => span.attacked === attacked);
  const seconds = chosen.reduce((sum, { cpu }) => sum + (cpu.get(name)?.total ?? 0), 0);
  return (seconds * 1000) / chosen.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
};

const compare = (samples: Samples, spans: readonly Span[]): CallerResult => {
  const [undisturbedMs, attackedMs] = [false, true].map((attacked) =>
    percentilesOf(
      within(
        samples,
        spans.filter((span) => span.attacked === attacked),
      ),
    ),
  ) as [Percentiles, Percentiles];
  return { caller: samples.caller, undisturbedMs, attackedMs, ratio: attackedMs.p99 / undisturbedMs.p99 };
};

const percentilesOf = (all: readonly number[]): Percentiles => ({
  count: all.length,
  p50: percentile(all, 0.5),
  p99: percentile(all, 0.99),
});

const complaintsOfCaller = ({ caller, ratio }: CallerResult): readonly string[] =>
  ratio <= maxRatio ? [] : [`p99 under attack is ${ratio.toFixed(1)} times that undisturbed (${caller})`];

const complaintsOfMemory = ({ name, beforeMiB, peakMiB, growthMiB }: ProcessResult): readonly string[] =>
  peakMiB - beforeMiB <= growthMiB
    ? []
    : [`memory of ${name} grew by ${Math.round(peakMiB - beforeMiB)} MiB, more than ${growthMiB}`];
