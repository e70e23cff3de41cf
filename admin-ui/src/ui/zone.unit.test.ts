import { expect, test } from 'vitest';
import { beginningsOf, cityOf, timeAt, wallTime } from './zone.ts';

test.each([
  ['Europe/Berlin', '2026-01-15T09:30', '2026-01-15T08:30:00.000Z'],
  ['Europe/Berlin', '2026-07-15T09:30', '2026-07-15T07:30:00.000Z'],
  ['America/St_Johns', '2026-07-15T09:30', '2026-07-15T12:00:00.000Z'],
  ['Pacific/Auckland', '2026-01-01T00:15', '2025-12-31T11:15:00.000Z'],
  ['UTC', '2026-01-15T09:30', '2026-01-15T09:30:00.000Z'],
  // Just before and after the clocks change.
  ['Europe/Berlin', '2026-03-29T01:59', '2026-03-29T00:59:00.000Z'],
  ['Europe/Berlin', '2026-03-29T03:00', '2026-03-29T01:00:00.000Z'],
  ['Europe/Berlin', '2026-10-25T03:00', '2026-10-25T02:00:00.000Z'],
  ['America/New_York', '2026-11-01T00:59', '2026-11-01T04:59:00.000Z'],
])('In %s, clocks show %s at %s', (zone, wall, time) => {
  expect(timeAt(wall, zone)).toBe(time);
  expect(wallTime(time, zone)).toBe(wall);
});

test('A time that clocks skip is still a time, and what is no time is empty', () => {
  expect(timeAt('2026-03-29T02:30', 'Europe/Berlin')).toMatch(/^2026-03-29T0[01]:30/);
  expect(wallTime('never', 'UTC')).toBe('');
});

test('A zone is named by its city', () => {
  expect(['America/Argentina/Buenos_Aires', 'UTC'].map(cityOf)).toEqual(['Buenos Aires', 'UTC']);
});

test('A day has as many hours as clocks show, across the end of a month and where clocks change', () => {
  expect(beginningsOf(['2026-03-28', '2026-03-29', '2026-03-30', '2026-03-31'], 'Europe/Berlin')).toEqual([
    '2026-03-27T23:00:00.000Z',
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T22:00:00.000Z',
    '2026-03-30T22:00:00.000Z',
    '2026-03-31T22:00:00.000Z',
  ]);
});
