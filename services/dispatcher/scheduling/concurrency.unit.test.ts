import { expect, test } from 'vitest';
import { createReceivers } from './concurrency.ts';

interface Simulation {
  readonly dispatchers: number;
  readonly deliveries: number;
  /** Requests that the receiver works on at once; the others wait in its own queue. */
  readonly workers: number;
  readonly workMs: number;
  readonly timeoutMs?: number;
}

/** A backlog, any number of dispatchers, and a receiver that works on everything it got, also after the timeout. */
const simulate = ({ dispatchers, deliveries, workers, workMs, timeoutMs = 10_000 }: Simulation) => {
  let nowMs = 0;
  const receivers = createReceivers({ nowMs: () => nowMs, timeoutMs });
  const known = Array.from({ length: dispatchers }, () => receivers.unknown('https://receiver.example/'));
  const freeAt: number[] = Array(workers).fill(0);
  const underWay: {
    readonly at: number;
    readonly endMs: number;
    readonly elapsedMs: number;
    readonly beganAlone: boolean;
  }[] = [];
  const seen = { repeated: 0, slowestMs: 0, mostAtOnce: 0 };
  let left = deliveries;
  const begin = (at: number): void => {
    left--;
    const beganAlone = receivers.begin(known[at]!);
    const worker = freeAt.indexOf(Math.min(...freeAt));
    freeAt[worker] = Math.max(nowMs, freeAt[worker]!) + workMs;
    const elapsedMs = Math.min(freeAt[worker]! - nowMs, timeoutMs);
    underWay.push({ at, endMs: nowMs + elapsedMs, elapsedMs, beganAlone });
  };
  const room = (at: number): number => {
    const receiver = known[at]!;
    return (receivers.isSilent(receiver) ? 1 : Math.floor(receiver.concurrency)) - receiver.inFlight;
  };
  for (;;) {
    for (let at = 0; at < dispatchers; at++) while (left > 0 && room(at) > 0) begin(at);
    if (underWay.length === 0) return { ...seen, tookMs: nowMs };
    seen.mostAtOnce = Math.max(seen.mostAtOnce, underWay.length);
    underWay.sort((a, b) => a.endMs - b.endMs);
    const { at, endMs, elapsedMs, beganAlone } = underWay.shift()!;
    nowMs = endMs;
    const timedOut = elapsedMs >= timeoutMs;
    receivers.learn(known[at]!, { succeeded: !timedOut, elapsedMs, beganAlone });
    known[at]!.inFlight--;
    seen.slowestMs = Math.max(seen.slowestMs, elapsedMs);
    if (!timedOut) continue;
    seen.repeated++;
    left++;
  }
};

test.each([
  { dispatchers: 1, workers: 1, workMs: 200 },
  { dispatchers: 2, workers: 1, workMs: 200 },
  { dispatchers: 8, workers: 1, workMs: 200 },
  { dispatchers: 20, workers: 1, workMs: 200 },
  { dispatchers: 1, workers: 1, workMs: 50 },
  { dispatchers: 3, workers: 1, workMs: 1_000 },
  { dispatchers: 2, workers: 1, workMs: 2_000 },
  { dispatchers: 1, workers: 1, workMs: 4_000 },
  { dispatchers: 2, workers: 4, workMs: 500 },
  { dispatchers: 4, workers: 4, workMs: 1_000 },
  { dispatchers: 2, workers: 10, workMs: 2_900 },
])(
  'a receiver of $workers workers of $workMs ms gets nothing twice from $dispatchers dispatchers, and is never idle',
  (given) => {
    const deliveries = 400;
    const { repeated, slowestMs, tookMs } = simulate({ ...given, deliveries });
    expect(repeated).toBe(0);
    expect(slowestMs).toBeLessThanOrEqual(9_000);
    const leastMs = (deliveries / given.workers) * given.workMs;
    expect(tookMs).toBeLessThanOrEqual(1.15 * leastMs + 10 * given.workMs);
  },
);

test.each([
  { workMs: 5, rounds: 13 },
  { workMs: 800, rounds: 13 },
  { workMs: 2_000, rounds: 13 },
  { workMs: 2_900, rounds: 13 },
])(
  'a receiver that works on any number at once, $workMs ms each, gets 64 at once after six rounds',
  ({ workMs, rounds }) => {
    const { mostAtOnce, tookMs } = simulate({ dispatchers: 1, deliveries: 440, workers: 1_000, workMs });
    expect(mostAtOnce).toBe(64);
    expect(tookMs).toBeLessThanOrEqual(rounds * workMs);
  },
);
