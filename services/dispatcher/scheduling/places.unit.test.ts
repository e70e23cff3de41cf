import { expect, test } from 'vitest';
import { createPlaces } from './places.ts';

test('a company that uses up its places leaves places to others, and waits for its own', async () => {
  const places = createPlaces(8, 60_000);
  for (let taken = 0; taken < 4; taken++) expect(await places.take(1)).toBe(true);
  const waiting = [places.take(1), places.take(1)];
  expect(await places.take(2)).toBe(true);
  expect([places.held(1), places.held(2)]).toEqual([4, 1]);
  places.giveBack(2);
  places.giveBack(1);
  expect(await waiting[0]).toBe(true);
  places.giveBack(1);
  expect(await waiting[1]).toBe(true);
  expect(places.held(1)).toBe(4);
});

test('a company may wait in half of the waiting places; the rest is refused at once', async () => {
  const places = createPlaces(8, 30);
  for (let taken = 0; taken < 4; taken++) await places.take(1);
  const waiting = Array.from({ length: 4 }, () => places.take(1));
  expect(await places.take(1)).toBe(false);
  expect(await Promise.all(waiting)).toEqual(Array(4).fill(false));
  expect(places.held(1)).toBe(4);
  places.giveBack(1);
  expect(await places.take(1)).toBe(true);
});
