import { expect, test } from 'vitest';
import { createBounds } from './bounds.ts';

test('one network of strangers gets a part of their places, and gets it back', () => {
  const { strangers } = createBounds();
  const leave = Array.from({ length: 16 }, () => strangers.enter('203.0.113.1'));
  expect(() => strangers.enter('203.0.113.1')).toThrow('too_many_requests');
  strangers.enter('203.0.113.2');
  leave[0]!();
  strangers.enter('203.0.113.1');
});

test('strangers who take all of their places leave members theirs', () => {
  const { strangers, members } = createBounds();
  for (let at = 0; at < 200; at++) strangers.enter(`network ${at}`);
  expect(() => strangers.enter('one more')).toThrow('service_unavailable');
  for (let at = 0; at < 32; at++) members.enter('token');
  expect(() => members.enter('token')).toThrow('too_many_requests');
});

test('one network with made-up tokens does not take all the places of members', () => {
  const { arriving, members } = createBounds();
  let entered = 0;
  for (let at = 0; at < 1000; at++) {
    try {
      arriving.enter('203.0.113.1');
    } catch {
      continue;
    }
    members.enter(`made-up ${at}`);
    entered++;
  }
  expect(entered).toBe(64);
  members.enter('a real one');
});
