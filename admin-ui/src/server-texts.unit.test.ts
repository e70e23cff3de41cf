import { expect, test } from 'vitest';
import { translateProblem } from './server-texts.ts';

const said = (message: string, more: Partial<Parameters<typeof translateProblem>[0]> = {}) =>
  translateProblem({ status: 409, message, details: [], extra: {}, ...more });

test('an error is said by its code, and in the words of the server too where they say more', () => {
  expect(said('sign in to continue', { status: 401, extra: { reason: 'signed_out' } }).message).toBe(
    'Sign in to continue',
  );
  expect(said('the subscription is disabled').message).toBe(
    'The current state does not allow this (the subscription is disabled)',
  );
  expect(said('no tea here', { status: 418 }).message).toBe('no tea here');
});

test('a detail is said by its code, with the bound that it names', () => {
  const details = [
    { field: 'url', code: 'required', message: 'url is required' },
    { field: 'pace.limit', code: 'out_of_range', message: 'pace.limit must be at most 1000' },
  ] as const;
  expect(said('url is required', { details }).details.map(({ message }) => message)).toEqual([
    'This is required',
    'This value is not allowed (pace.limit must be at most 1000)',
  ]);
});
