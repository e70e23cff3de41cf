import { expect, test } from 'vitest';
import { planPartitions } from './retention.ts';

const at = (text: string): Date => new Date(text);
const now = at('2026-03-01T12:00:00Z');
const week = ['20260302', '20260303', '20260304', '20260305', '20260306', '20260307', '20260308'];

test('a new table gets today and the week to come', () => {
  expect(planPartitions(['future'], now, 30)).toEqual({ add: ['20260301', ...week], drop: [] });
});

test('a table that has all days needs nothing', () => {
  const names = [...['20260301', ...week].map((day) => `p${day}`), 'future'];
  expect(planPartitions(names, now, 30)).toEqual({ add: [], drop: [] });
  expect(planPartitions(names, at('2026-03-01T23:59:59.999Z'), 30)).toEqual({ add: [], drop: [] });
  expect(planPartitions(names, at('2026-03-02T00:00:00.000Z'), 30)).toEqual({ add: ['20260309'], drop: [] });
});

test('missing days are added, except those that would be dropped at once', () => {
  expect(planPartitions(['p20260226', 'future'], now, 30).add).toEqual([
    '20260227',
    '20260228',
    '20260301',
    ...week,
  ]);
  expect(planPartitions(['p20250101', 'future'], now, 2)).toEqual({
    add: ['20260227', '20260228', '20260301', ...week],
    drop: ['p20250101'],
  });
});

test('a day is dropped when all of it is older than the retention', () => {
  const names = ['p20260129', 'p20260130', 'p20260131', 'future'];
  expect(planPartitions(names, at('2026-03-01T00:00:00Z'), 30).drop).toEqual(['p20260129']);
  expect(planPartitions(names, at('2026-03-01T23:59:59Z'), 30).drop).toEqual(['p20260129']);
  expect(planPartitions(names, at('2026-03-02T00:00:00Z'), 30).drop).toEqual(['p20260129', 'p20260130']);
});
