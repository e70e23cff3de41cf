import type { Context } from '../context.ts';

/** What a dispatcher has learnt about a subscription's receiver. */
export interface KnownReceiver {
  readonly url: string;
  /** Attempts that may be under way at once, in halves. */
  concurrency: number;
  inFlight: number;
  /** When it last answered, or when its first open attempt began. */
  answeredMs: number;
  /** What the latest attempt took that began alone, or the quickest since. */
  bestMs: number;
}

interface EndedAttempt {
  readonly succeeded: boolean;
  readonly elapsedMs: number;
  readonly beganAlone: boolean;
}

interface Receivers {
  unknown(url: string): KnownReceiver;
  isKnown(receiver: KnownReceiver, url: string): boolean;
  /** @returns whether no other attempt is in flight. */
  begin(receiver: KnownReceiver): boolean;
  /** Call it while the attempt still counts as in flight. */
  learn(receiver: KnownReceiver, attempt: EndedAttempt): void;
  /** It has not answered for so long that its next answer is slow. */
  isSilent(receiver: KnownReceiver): boolean;
}

/**
 * Concurrency by latency. It begins at one. A quick answer adds a place if more than half of the places are in use, a
 * slow one takes half a place, a failure leaves one: a round of quick answers doubles it, a round of slow ones halves it.
 * Quick is a second, or four times the best of late, but at most three tenths of the timeout: before the first
 * slow answer comes, what waits at the receiver can double, and one more is worked on.
 */
export const createReceivers = ({ nowMs, timeoutMs }: ReceiversOptions): Receivers => {
  const quickMs = ({ bestMs }: KnownReceiver): number =>
    Math.min(Math.max(alwaysQuickMs, 4 * bestMs), quickShare * timeoutMs);
  return {
    unknown: (url) => ({ url, concurrency: 1, inFlight: 0, answeredMs: nowMs(), bestMs: Infinity }),
    isKnown: (receiver, url) =>
      receiver.url === url && (receiver.inFlight > 0 || nowMs() - receiver.answeredMs < knownForMs),
    begin: (receiver) => {
      const isAlone = receiver.inFlight === 0;
      if (isAlone) receiver.answeredMs = nowMs();
      receiver.inFlight++;
      return isAlone;
    },
    learn: (receiver, { succeeded, elapsedMs, beganAlone }) => {
      receiver.answeredMs = nowMs();
      if (!succeeded) {
        receiver.concurrency = 1;
        return;
      }
      receiver.bestMs = beganAlone ? elapsedMs : Math.min(elapsedMs, receiver.bestMs);
      const { concurrency, inFlight } = receiver;
      if (elapsedMs > quickMs(receiver)) receiver.concurrency = Math.max(1, concurrency - 1 / 2);
      else if (inFlight > concurrency / 2) receiver.concurrency = Math.min(concurrency + 1, maxConcurrency);
    },
    isSilent: (receiver) => receiver.inFlight > 0 && nowMs() - receiver.answeredMs > quickMs(receiver),
  };
};

const maxConcurrency = 64;
const alwaysQuickMs = 1_000;
const quickShare = 0.3;
const knownForMs = 60_000;

interface ReceiversOptions extends Pick<Context, 'nowMs'> {
  readonly timeoutMs: number;
}
