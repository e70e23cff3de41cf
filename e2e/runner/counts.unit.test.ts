import { expect, test } from 'vitest';
import { countsOfReport, failuresOfReport } from './counts.ts';

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

test('failures are named with the first lines of what went wrong, also those of a file that cannot be loaded', () => {
  const passed = { status: 'passed', fullName: 'A passes', failureMessages: [] };
  const failed = {
    status: 'failed',
    fullName: 'B fails',
    failureMessages: ['Error: no:\none\n    at b.ts:1'],
  };
  const testResults = [
    { name: '/a.ts', status: 'failed', message: '', assertionResults: [passed, failed] },
    { name: '/b.ts', status: 'failed', message: 'SyntaxError: oh\n at', assertionResults: [] },
    { name: '/c.ts', status: 'passed', message: '', assertionResults: [passed] },
  ];
  expect(failuresOfReport({ ...report, testResults })).toEqual([
    { file: '/a.ts', test: 'B fails', message: 'Error: no:\n    one' },
    { file: '/b.ts', test: '/b.ts', message: 'SyntaxError: oh' },
  ]);
  expect(failuresOfReport(undefined)).toEqual([]);
});
