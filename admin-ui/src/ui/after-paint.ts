import { startTransition, useEffect, useRef, useState } from 'react';

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

/**
 * A choice that shows at once and takes effect after the browser has painted it.
 * @returns the choice to show, and a function that chooses.
 */
export const useShownFirst = <Value>(
  value: Value,
  onChange: (value: Value) => void,
): readonly [Value, (next: Value) => void] => {
  const [chosen, setChosen] = useState<{ readonly from: Value; readonly to: Value } | null>(null);
  const cancel = useRef(() => {});
  // biome-ignore lint/correctness/useExhaustiveDependencies: any change of the value ends the choice
  useEffect(() => setChosen(null), [value]);
  const choose = (to: Value): void => {
    cancel.current();
    setChosen({ from: value, to });
    cancel.current = afterPaint(() => onChange(to));
  };
  return [chosen?.from === value ? chosen.to : value, choose];
};
