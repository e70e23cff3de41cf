import { setTimeout as sleep } from 'node:timers/promises';
import type { Metrics } from './metrics.ts';
import { guarded } from './report.ts';
import { runtimeMetrics } from './runtime-metrics.ts';

export interface Repeated {
  /** Ends the pause; during a pass, the next one follows at once. */
  wake(): void;
  stop(): Promise<void>;
}

/**
 * Pauses after a pass that did nothing (0) or failed, with 25 % jitter so that replicas do not run in step.
 * @param onError called with the first of consecutive failures.
 * @param removes exports, for an alert, the time since it last removed old rows of these tables.
 */
export const repeat = (
  work: (stopping: AbortSignal) => Promise<number>,
  { pauseMs, onError, removes }: RepeatOptions,
): Repeated => {
  const stopping = new AbortController();
  let failing = false;
  let succeededMs = performance.now();
  removes?.metrics.gauge(
    runtimeMetrics.retention_stale_seconds,
    () => (performance.now() - succeededMs) / 1000,
    { of: removes.of },
  );
  let woken = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      let done = 0;
      woken = new AbortController();
      try {
        done = await work(stopping.signal);
        failing = false;
        succeededMs = performance.now();
      } catch (error) {
        if (!failing) onError(error);
        failing = true;
      }
      if (done > 0) continue;
      const nextMs = typeof pauseMs === 'number' ? pauseMs : pauseMs();
      const variedMs = nextMs * (0.75 + Math.random() / 2);
      await sleep(variedMs, undefined, { signal: woken.signal }).catch(() => {});
    }
  })();
  return {
    wake: () => woken.abort(),
    stop: () => {
      stopping.abort();
      woken.abort();
      return running;
    },
  };
};

interface RepeatOptions {
  readonly pauseMs: number | (() => number);
  readonly onError: (error: unknown) => void;
  readonly removes?: { readonly of: string; readonly metrics: Metrics };
}

/** An item that fails does not keep the others from their turn. @throws the first error, after all */
export const eachAlone = async <Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> => {
  const errors: unknown[] = [];
  for (const item of items) await work(item).catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
};

export const tickMs = 50;

const works = new Set<{ readonly everyMs: number; readonly run: () => void; turn: number }>();
let timer: NodeJS.Timeout | undefined;
let wakesMs = Number.POSITIVE_INFINITY;

/**
 * All callers share one timer, which waits until the next of them is due: waking up costs an idle process more than the work. It
 * goes by a clock that the processes of a machine share, so that what they tell each other then arrives together. @returns stops it
 */
export const eachTick = (run: () => void, everyMs = tickMs): (() => void) => {
  const work = { everyMs, run, turn: turnOf(everyMs) };
  works.add(work);
  wakeFor(work);
  return () => void works.delete(work);
};

const sharedMs = (): number => performance.timeOrigin + performance.now();
const turnOf = (everyMs: number): number => Math.floor(sharedMs() / everyMs);

const wakeFor = ({ everyMs, turn }: { readonly everyMs: number; readonly turn: number }): void => {
  const dueMs = (turn + 1) * everyMs;
  if (dueMs >= wakesMs) return;
  wakesMs = dueMs;
  clearTimeout(timer);
  // Node may call a millisecond early, which would be for nothing.
  timer = setTimeout(tick, Math.ceil(dueMs - sharedMs()) + 1).unref();
};

const tick = (): void => {
  wakesMs = Number.POSITIVE_INFINITY;
  for (const work of works) {
    const turn = turnOf(work.everyMs);
    if (turn !== work.turn) guarded(work.run);
    work.turn = turn;
  }
  for (const work of works) wakeFor(work);
};
