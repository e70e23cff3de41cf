import { startTransition, useEffect, useState } from 'react';

/**
 * Runs what is not small once the browser has shown its answer to what was just pressed.
 * @returns what calls it off.
 */
export const afterPaint = (run: () => void): (() => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const frame = requestAnimationFrame(() => {
    clearTimeout(timer);
    timer = setTimeout(run);
  });
  // A frame that is not drawn, as behind another window, must not keep it from happening.
  timer = setTimeout(() => {
    cancelAnimationFrame(frame);
    run();
  }, 100);
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
};

/** What `open` is as soon as the page has shown that it changes; at first false. */
export const useOpenAfterPaint = (open: boolean): boolean => {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    if (shown !== open) return afterPaint(() => startTransition(() => setShown(open)));
  }, [open, shown]);
  return shown;
};
