import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cleanUp } from './cleanup.ts';

const undone: string[] = [];

// Registered first and so run last, when everything else is undone.
afterAll(() => {
  expect(undone.slice(-3)).toEqual(['of a hook, later', 'of a hook', 'of the file']);
});
cleanUp(() => void undone.push('of the file'));
beforeAll(() => {
  cleanUp(() => void undone.push('of a hook'));
  cleanUp(() => void undone.push('of a hook, later'));
});

describe('cleanUp', () => {
  describe('in a describe', () => {
    cleanUp(() => void undone.push('of a describe'));
    it('waits for the end of the describe', () => expect(undone).toEqual([]));
  });

  it('has run at the end of its describe', () => expect(undone).toEqual(['of a describe']));

  it('takes what one test made', () => {
    cleanUp(() => void undone.push('of a test'));
    cleanUp(() => void undone.push('of a test, later'));
  });

  it('has run at the end of its test, the last made first', () => {
    expect(undone.slice(-2)).toEqual(['of a test, later', 'of a test']);
  });

  describe('with a beforeEach', () => {
    beforeEach(() => cleanUp(() => void undone.push('of each')));
    it('takes what the hook made', () => expect(undone).not.toContain('of each'));
    it('has run at the end of the test before', () => expect(undone.at(-1)).toBe('of each'));
  });
});
