import { ends, type Shot } from '../api/support/load.ts';
import { seconds } from '../load/report.ts';
import { type Baseline, complaintsOfBounds } from './bounds.ts';
import type { Fault } from './fault.ts';
import { type Call, headerOf, isDone } from './history/call.ts';
import { isFine } from './history/clients.ts';
import type { Receiver } from './receiver.ts';

/** The effect of a fault on callers and receivers: how much failed, how long, how late. */
export interface Effects {
  readonly requests: number;
  /** Number of failed requests by result. A request that succeeded, or was rightly refused, is not a failure. */
  readonly failures: Readonly<Record<string, number>>;
  /** Time from the first failure to the last. */
  readonly failedForMs: number;
  readonly slowestMs: number;
  /** Time from the healing (or the kill) to the end of the last failure; 0 if no failure followed. */
  readonly requestsBackMs: number;
  readonly deliveries: number;
  readonly repeated: number;
  /** Time from the healing (or the kill) to the last delivery that arrived more than `lateMs` after its create. */
  readonly deliveriesBackMs: number;
  readonly latestMs: number;
  /** First arrivals: when the create was answered, as of `performance.now()`, and how long the delivery took. */
  readonly firstAttempts: readonly { readonly atMs: number; readonly elapsedMs: number }[];
  /** The largest share of its limit that a key used in one window. */
  readonly mostOfLimit: number;
  readonly complaints: readonly string[];
}

export interface Run {
  readonly fault: Pick<Fault, 'edge' | 'unnoticed' | 'bounds'>;
  /** Other tests run on the machine too: nothing is judged that depends on its speed. */
  readonly isBusy: boolean;
  readonly baseline?: Baseline | undefined;
  readonly calls: readonly Call[];
  readonly abandoned: number;
  /** Subscribed paths whose deliveries are measured. */
  readonly measured: ReadonlySet<string>;
  /** When the healing began, as of `performance.now()`. */
  readonly healedMs: number;
  /** How long what was killed took to answer again, where the fault says when that is; otherwise 0. */
  readonly restartMs: number;
}

/** A delivery that takes longer than this is late. It is longer than a fan-out by the sweeper. */
const lateMs = 3_000;
const recovery = { requestsBackMs: 30_000, deliveriesBackMs: 60_000 };

export const effectsOf = (receiver: Receiver, run: Run): Effects => {
  const { fault, isBusy, baseline, calls, healedMs } = run;
  const complaints: string[] = [];
  const failed = calls.filter((call) => !isFine(call));
  const failures = ends(failed.map(shotOf));
  if (fault.unnoticed)
    complaints.push(...Object.entries(failures).map(([end, count]) => `${count} requests ended with ${end}`));
  if (run.abandoned > 0) complaints.push(`${run.abandoned} creates were never answered 2xx`);

  const lastMs = Math.max(...failed.map(({ endedMs }) => endedMs));
  const requestsBackMs = Math.max(0, lastMs - healedMs);
  if (!isBusy && requestsBackMs > recovery.requestsBackMs)
    complaints.push(`requests failed until ${seconds(requestsBackMs)} after the healing`);

  const delivered = effectsOnDeliveries(receiver, run);
  if (!isBusy && delivered.deliveriesBackMs > recovery.deliveriesBackMs)
    complaints.push(`deliveries were late until ${seconds(delivered.deliveriesBackMs)} after the healing`);
  const spanOf = (all: readonly Call[]): number =>
    all.length > 0
      ? Math.max(...all.map(({ endedMs }) => endedMs)) - Math.min(...all.map(({ endedMs }) => endedMs))
      : 0;
  // The connections of a gateway that fails are expected to fail with it.
  const bounded = failed.filter(({ reply }) => !(fault.edge && reply instanceof Error));
  const slowestMs = Math.max(0, ...calls.map(({ sentMs, endedMs }) => endedMs - sentMs));
  complaints.push(
    ...complaintsOfBounds(
      (!isBusy && fault.bounds) || {},
      {
        failedAtMost: bounded.length,
        failingForMs: Math.max(0, spanOf(bounded) - run.restartMs),
        slowestMs,
        latestDeliveryMs: delivered.latestMs,
        repeatedAtMost: delivered.repeated,
      },
      baseline,
    ),
  );
  return {
    requests: calls.length,
    failures,
    failedForMs: spanOf(failed),
    slowestMs,
    requestsBackMs: failed.length > 0 ? requestsBackMs : 0,
    ...delivered,
    mostOfLimit: mostPassed(calls),
    complaints,
  };
};

const shotOf = ({ sentMs, endedMs, reply }: Call): Shot => ({ sentMs, elapsedMs: endedMs - sentMs, reply });

/** Compares arrivals with the times at which their creates were answered. */
const effectsOnDeliveries = ({ arrivals }: Receiver, { calls, measured, healedMs }: Run) => {
  const answeredMs = new Map<string, number>();
  for (const call of calls)
    if (isDone(call) && call.body?.email && !answeredMs.has(call.body.email))
      answeredMs.set(call.body.email, call.endedMs);
  const all = arrivals.filter(({ path }) => measured.has(path));
  const firsts: Effects['firstAttempts'][number][] = [];
  let [deliveriesBackMs, latestMs] = [0, 0];
  for (const [first] of Map.groupBy(all, ({ path, id }) => `${path} ${id}`).values()) {
    const atMs = answeredMs.get(JSON.parse(first!.body).payload.email) ?? first!.atMs;
    const elapsedMs = Math.max(0, first!.atMs - atMs);
    firsts.push({ atMs, elapsedMs });
    latestMs = Math.max(latestMs, elapsedMs);
    if (elapsedMs > lateMs) deliveriesBackMs = Math.max(deliveriesBackMs, first!.atMs - healedMs);
  }
  return {
    deliveries: all.length,
    repeated: all.length - firsts.length,
    deliveriesBackMs,
    latestMs,
    firstAttempts: firsts,
  };
};

const mostPassed = (calls: readonly Call[]): number => {
  const lookups = calls.filter((call) => call.by === 'reader' && isDone(call));
  const windows = Map.groupBy(lookups, (call) => `${call.key} ${headerOf(call, 'x-ratelimit-reset')}`);
  return Math.max(
    0,
    ...[...windows.values()].map((all) => all.length / Number(headerOf(all[0]!, 'x-ratelimit-limit'))),
  );
};
