import { expect, test } from 'vitest';
import { countsOfReport } from './test-counts.ts';

const report = { numPassedTests: 7, numFailedTests: 0, numPendingTests: 1, numTodoTests: 2 };

test('the counts are those of the report', () => {
  expect(countsOfReport({ ...report, numFailedTests: 3 }, false)).toEqual({
    passed: 7,
    failed: 3,
    skipped: 3,
  });
  expect(countsOfReport(report, true)).toEqual({ passed: 7, failed: 0, skipped: 3 });
});

test('a run that failed outside of any test counts as a failure', () => {
  expect(countsOfReport(report, false).failed).toBe(1);
});

test('a run without a report counts as a failure, whatever its exit code', () => {
  expect(countsOfReport(undefined, true).failed).toBe(1);
});
