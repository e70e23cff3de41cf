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

const works = new Set<{ readonly ticks: number; readonly run: () => void }>();
let timer: NodeJS.Timeout | undefined;
let count = 0;

/**
 * All callers share one timer: waking up costs an idle process more than the work (346 polls a second with a
 * timer each, 88 with one). @returns stops it
 */
export const eachTick = (run: () => void, everyMs = tickMs): (() => void) => {
  const work = { ticks: Math.round(everyMs / tickMs), run };
  works.add(work);
  timer ??= setInterval(tick, tickMs).unref();
  return () => {
    works.delete(work);
    if (works.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
};

const tick = (): void => {
  count++;
  for (const { ticks, run } of works) if (count % ticks === 0) guarded(run);
};
