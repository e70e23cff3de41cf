export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export const none: Counts = { passed: 0, failed: 0, skipped: 0 };

export const add = (a: Counts, b: Counts): Counts => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
});

/**
 * Counts the results in a report of vitest's JSON reporter. A failure outside of any test (a file that cannot be
 * loaded, an uncaught error, an aborted run) counts as one failure: nothing red may look green.
 */
export const countsOfReport = (report: unknown, exitedWell: boolean): Counts => {
  const numbers = (report ?? {}) as Partial<Report>;
  const failed = numbers.numFailedTests ?? 0;
  return {
    passed: numbers.numPassedTests ?? 0,
    failed: failed === 0 && (!exitedWell || report === undefined) ? 1 : failed,
    skipped: (numbers.numPendingTests ?? 0) + (numbers.numTodoTests ?? 0),
  };
};

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
}
