import { afterAll, onTestFinished, TestRunner } from 'vitest';

/**
 * Registers a cleanup. It runs at the end of the test if registered in a test or `beforeEach`, at the end of the file
 * if registered in a `beforeAll`, otherwise at the end of the file or `describe`. The last registered runs first.
 */
export const cleanUp = (undo: () => Promise<void> | void): void => {
  if (TestRunner.getCurrentTest()) {
    onTestFinished(undo);
    return;
  }
  const { file } = TestRunner.getCurrentSuite();
  // In a hook the file is already collected, and vitest would accept an `afterAll` but never call it.
  if (file?.collectDuration === undefined) afterAll(undo);
  else TestRunner.getSuiteHooks(file).afterAll.push(undo);
};
