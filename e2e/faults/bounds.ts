import { availableParallelism, loadavg } from 'node:os';
import { seconds } from '../load/report.ts';

/** The largest effect that a fault may have on callers and receivers. */
export interface Bounds {
  /** Failed requests. While a gateway itself fails (`edge`), only answered ones: its connections end with it. */
  readonly failedAtMost?: number;
  /** Time from the first of these failures to the last, less the restart of what was killed. */
  readonly failingForMs?: number;
  /** The slowest request, whatever its result. */
  readonly slowestMs?: number;
  /** The longest time from an event to its first delivery. */
  readonly latestDeliveryMs?: number;
  /** Deliveries beyond the first of each event. */
  readonly repeatedAtMost?: number;
}

/** What was measured, one figure for each bound. */
export type Measured = Required<Bounds>;

/** What the same load takes on this machine without a fault: the bounds of a fault come on top of it. */
export type Baseline = Pick<Measured, 'slowestMs' | 'latestDeliveryMs'>;

/** @returns a sentence for each bound that was exceeded. */
export const complaintsOfBounds = (
  bounds: Bounds,
  measured: Measured,
  baseline: Partial<Measured> = {},
): readonly string[] =>
  (Object.keys(sentences) as (keyof Bounds)[]).flatMap((name) => {
    const [found, stated] = [measured[name], bounds[name]];
    const bound = stated === undefined ? Number.POSITIVE_INFINITY : stated + (baseline[name] ?? 0);
    if (found <= bound) return [];
    return [sentences[name](found, bound) + (name === 'failedAtMost' ? '' : machineNote())];
  });

const machineNote = (): string => {
  const [load, processors] = [Math.round(loadavg()[0]!), availableParallelism()];
  return load > processors ? `; the machine may be the cause: load ${load} on ${processors} processors` : '';
};

const sentences: Readonly<Record<keyof Bounds, (found: number, bound: number) => string>> = {
  failedAtMost: (found, bound) => `${found} requests failed, more than ${bound}`,
  failingForMs: (found, bound) => `requests failed for ${seconds(found)}, longer than ${seconds(bound)}`,
  slowestMs: (found, bound) => `the slowest request took ${seconds(found)}, longer than ${seconds(bound)}`,
  latestDeliveryMs: (found, bound) =>
    `the latest delivery took ${seconds(found)}, longer than ${seconds(bound)}`,
  repeatedAtMost: (found, bound) => `${found} deliveries were repeated, more than ${bound}`,
};
