import { describe, expect, test } from 'vitest';
import { createBounds, createPace } from './bounds.ts';

test('one network of strangers gets a part of their places, and again when they are free', () => {
  const { strangers } = createBounds();
  const leave = Array.from({ length: 16 }, () => strangers.enter('203.0.113.1'));
  expect(() => strangers.enter('203.0.113.1')).toThrow('too_many_requests');
  strangers.enter('203.0.113.2');
  leave[0]!();
  strangers.enter('203.0.113.1');
});

test('strangers who take all of their places leave the places of members', () => {
  const { strangers, members } = createBounds();
  for (let at = 0; at < 1000; at++) strangers.enter(`network ${at}`);
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

describe('the pace of one network', () => {
  test('is a burst, then so many a second, and a burst again after a rest', () => {
    let now = 0;
    const pace = createPace(20, 100, () => now);
    const admitted = (attempts: number) =>
      Array.from({ length: attempts }, () => pace.admits('203.0.113.1')).filter(Boolean).length;
    expect(admitted(500)).toBe(100);
    now += 1000;
    expect(admitted(500)).toBe(20);
    now += 60_000;
    expect(admitted(500)).toBe(100);
    expect(pace.admits('203.0.113.2')).toBe(true);
  });

  test('is remembered for a bounded number of networks', () => {
    const pace = createPace(20, 1, () => 0);
    for (let at = 0; at < 30_000; at++) expect(pace.admits(`network ${at}`)).toBe(true);
    expect(pace.admits('network 29999')).toBe(false);
    expect(pace.admits('network 0')).toBe(true);
  });
});
