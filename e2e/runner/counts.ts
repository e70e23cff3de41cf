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

export interface Failure {
  /** Absolute. */
  readonly file: string;
  /** With the names of its groups; that of the file, if it could not be loaded. */
  readonly test: string;
  /** Its first lines. */
  readonly message: string;
}

export const failuresOfReport = (report: unknown): Failure[] =>
  ((report ?? {}) as Partial<Report>).testResults?.flatMap(failuresOfFile) ?? [];

const failuresOfFile = ({ name: file, status, message, assertionResults }: FileReport): Failure[] => {
  const failed = assertionResults.filter((test) => test.status === 'failed');
  if (failed.length === 0 && status === 'failed') return [{ file, test: file, message: firstLines(message) }];
  return failed.map(({ fullName, failureMessages }) => ({
    file,
    test: fullName,
    message: firstLines(failureMessages[0]),
  }));
};

/** Several, because the first may say only that there is a list. */
const firstLines = (text = ''): string =>
  text
    .split('\n')
    .filter((line) => !/^\s*at\b/.test(line))
    .slice(0, 3)
    .join('\n    ');

interface FileReport {
  readonly name: string;
  readonly status: string;
  readonly message?: string;
  readonly assertionResults: readonly {
    readonly status: string;
    readonly fullName: string;
    readonly failureMessages: readonly string[];
  }[];
}

interface Report {
  readonly testResults: readonly FileReport[];
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
}
