/**
 * Hands an error that no caller can be told to the handler of the process, which logs and counts it (`process.ts`). A test that
 * meets one fails.
 */
export const reportError = (error: unknown): void =>
  queueMicrotask(() => {
    throw error;
  });

/** So that the work after it, of other callers, is done whatever it throws. */
export const guarded = (work: () => void): void => {
  try {
    work();
  } catch (error) {
    reportError(error);
  }
};
