import { afterAll, onTestFinished, TestRunner } from 'vitest';

/**
 * Undoes what was made here: at the end of the test where it was made in one, else at the end of the file or
 * `describe`. The last made goes first. At the top of a file, call makers there (`await testDatabase(…)`),
 * not in a hook: a hook is too late to register another.
 */
export const cleanUp = (undo: () => Promise<void> | void): void => {
  if (TestRunner.getCurrentTest()) onTestFinished(undo);
  else afterAll(undo);
};
