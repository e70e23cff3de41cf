import { expect, test } from 'vitest';
import { beatEveryMs, countSilence, type KnownDispatcher, silentReads, sureForMs } from './holder.ts';

const dispatcher = (dispatcher_id: number, beats: number): KnownDispatcher => ({
  dispatcher_id,
  instance: `dispatcher-${dispatcher_id}`,
  beats,
  given_up_utc: null,
  open_until_utc: null,
});

test('a dispatcher is given up after enough reads without a beat, and not one read earlier', () => {
  const silence = countSilence();
  let beats = 10;
  for (let read = 0; read < silentReads; read++)
    expect(silence.read([dispatcher(1, 7), dispatcher(2, beats++)])).toEqual([]);
  expect(silence.read([dispatcher(1, 7), dispatcher(2, beats)])).toEqual([dispatcher(1, 7)]);
});

test('a beat, or a read that failed, starts the count again', () => {
  const silence = countSilence();
  const read = (beats: number, times: number) =>
    Array.from({ length: times }, () => silence.read([dispatcher(1, beats)])).flat();
  expect(read(7, silentReads)).toEqual([]);
  expect(read(8, silentReads)).toEqual([]);
  silence.reset();
  expect(read(8, silentReads)).toEqual([]);
  expect(read(8, 1)).toHaveLength(1);
});

test('a silent dispatcher stops starting attempts before the others may give it up', () => {
  expect(sureForMs).toBeLessThan(silentReads * beatEveryMs);
});
