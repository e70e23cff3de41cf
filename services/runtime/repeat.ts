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

/**
 * All callers share one timer, and the same moments in all processes of a machine: waking up costs a process at rest more than
 * the work. @param everyMs runs are as far apart; the first one may come up to a quarter of a second earlier. @returns stops it
 */
export const eachTick = (run: () => void, everyMs: number): (() => void) => {
  const work = { run, everyMs, dueMs: nextMs(everyMs) };
  works.add(work);
  wakeAt(work.dueMs);
  return () => void works.delete(work);
};

const works = new Set<{ readonly run: () => void; readonly everyMs: number; dueMs: number }>();
let timer: NodeJS.Timeout | undefined;
let wakeMs = Number.POSITIVE_INFINITY;

/** Like `Date.now()`, but no setting of the clock moves it. */
const nowMs = (): number => performance.timeOrigin + performance.now();

const maxStepMs = 250;
const nextMs = (everyMs: number, afterMs = nowMs()): number => {
  const stepMs = Math.min(everyMs, maxStepMs);
  return Math.floor((afterMs + everyMs) / stepMs) * stepMs;
};

const wakeAt = (ms: number): void => {
  if (ms >= wakeMs) return;
  clearTimeout(timer);
  wakeMs = ms;
  timer = setTimeout(tick, Math.max(1, Math.ceil(ms - nowMs()))).unref();
};

const tick = (): void => {
  wakeMs = Number.POSITIVE_INFINITY;
  // A timer may end a little early.
  const untilMs = nowMs() + 1;
  for (const work of works) {
    if (work.dueMs > untilMs) continue;
    work.dueMs = nextMs(work.everyMs, Math.max(nowMs(), work.dueMs));
    guarded(work.run);
  }
  wakeAt(Math.min(...Array.from(works, ({ dueMs }) => dueMs)));
};
