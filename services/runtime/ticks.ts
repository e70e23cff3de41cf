/** How often a process looks at what may have fallen silent or run out of time. */
export const tickMs = 50;

const works = new Set<{ readonly ticks: number; readonly run: () => void }>();
let timer: NodeJS.Timeout | undefined;
let count = 0;

/**
 * Calls `run` every `everyMs`, a multiple of `tickMs`. All callers of a process share one timer: waking up costs an idle
 * process more than what it then does (with a timer each, an idle gateway polled 346 times a second, and now 88). The timer does
 * not keep the process alive.
 * @returns stops it.
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
  for (const { ticks, run } of works) if (count % ticks === 0) run();
};
