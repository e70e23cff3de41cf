import { startTransition, useEffect, useState } from 'react';

/**
 * Runs expensive work after the browser has painted the response to the current input.
 * @returns a function that cancels it.
 */
export const afterPaint = (run: () => void): (() => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const frame = requestAnimationFrame(() => {
    clearTimeout(timer);
    timer = setTimeout(run);
  });
  // Hidden windows draw no frames; the work runs anyway.
  timer = setTimeout(() => {
    cancelAnimationFrame(frame);
    run();
  }, 100);
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
};

/** Resolves after the browser has painted the response to the current input. */
export const untilPainted = (): Promise<void> => new Promise((resolve) => void afterPaint(resolve));

/** `open`, delayed until the page has painted; false at first. */
export const useOpenAfterPaint = (open: boolean): boolean => {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    if (shown !== open) return afterPaint(() => startTransition(() => setShown(open)));
  }, [open, shown]);
  return shown;
};
