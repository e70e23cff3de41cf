import { afterAll, onTestFinished, TestRunner } from 'vitest';

/**
 * Undoes what was made here: at the end of the test where it was made in one (or in its `beforeEach`), at the
 * end of the file where it was made in a `beforeAll`, else at the end of the file or `describe`. The last
 * made goes first.
 */
export const cleanUp = (undo: () => Promise<void> | void): void => {
  if (TestRunner.getCurrentTest()) {
    onTestFinished(undo);
    return;
  }
  const { file } = TestRunner.getCurrentSuite();
  // In a hook the file is collected already, and vitest would take an `afterAll` without ever calling it.
  if (file?.collectDuration === undefined) afterAll(undo);
  else TestRunner.getSuiteHooks(file).afterAll.push(undo);
};
