import { expect, test } from 'vitest';
import { listMembers } from './members.ts';

const member = (
  id: number,
  name: string,
  role: 'owner' | 'admin' | 'developer' | 'viewer',
  lastSignInUtc: string | null,
) => ({ id, name, email: `${id}@example.com`, role, lastSignInUtc, totpEnabled: id % 2 === 0, you: false });

const members = [
  member(1, 'Grace', 'viewer', '2026-01-15T09:30:00.000Z'),
  member(2, 'Ada', 'owner', null),
  member(3, '', 'developer', '2026-01-17T09:30:00.000Z'),
  member(4, 'Katherine', 'admin', '2026-01-16T09:30:00.000Z'),
] as unknown as Parameters<typeof listMembers>[0];

const ids = (wanted: Parameters<typeof listMembers>[1]): number[] =>
  listMembers(members, wanted).map(({ id }) => id);

test('Members are listed by name, or by email while they have none', () => {
  expect(ids({})).toEqual([3, 2, 1, 4]);
});

test('Members are listed in another order', () => {
  expect(ids({ sort: 'idle' })).toEqual([2, 1, 4, 3]);
});

test('A search matches all words, and the role', () => {
  expect(ids({ q: 'ATH  example' })).toEqual([4]);
  expect(ids({ q: 'owner' })).toEqual([2]);
});
