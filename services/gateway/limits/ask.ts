import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '@causeway/runtime';
import { type Msg, type MsgHdrs, NoRespondersError, RequestError } from '@nats-io/transport-node';

/** Calls back exactly once and never throws. */
export type Ask = (
  subject: string,
  payload: Uint8Array | string,
  options: AskOptions,
  done: AnswerCallback,
) => void;

interface AskOptions {
  readonly timeoutMs: number;
  readonly headers?: MsgHdrs;
}

/** `nobody`: no process listens to the subject. Undefined: it is unknown whether the request arrived. */
type AnswerCallback = (answer: Msg | 'nobody' | undefined) => void;

export interface Asker {
  readonly ask: Ask;
  /** Waits until a time of `performance.now()`. @returns whether the connection is up. */
  connectedBy(untilMs: number): Promise<boolean>;
  /** Since a time of `performance.now()`. */
  lostSince(sinceMs: number): boolean;
  /** 0 while the connection is up. */
  awayMs(): number;
}

/**
 * A new request waits while the connection is lost. A request under way at the loss gets no answer, so it is
 * given up at once.
 */
export const createAsker = (bus: Bus): Asker => {
  const underWay = new Set<AnswerCallback>();
  let back = Promise.withResolvers<void>();
  let lostAtMs = Number.NEGATIVE_INFINITY;
  bus.onDisconnect(() => {
    lostAtMs = performance.now();
    for (const end of [...underWay]) end(undefined);
  });
  bus.onReconnect(() => {
    back.resolve();
    back = Promise.withResolvers();
  });
  const connectedBy: Asker['connectedBy'] = async (untilMs) => {
    if (!bus.connected()) await Promise.race([back.promise, sleep(Math.max(0, untilMs - performance.now()))]);
    return bus.connected();
  };
  return {
    ask: (subject, payload, { timeoutMs, headers }, done) => {
      const untilMs = performance.now() + timeoutMs;
      const send = (): void => {
        const end: AnswerCallback = (answer) => {
          if (underWay.delete(end)) done(answer);
        };
        underWay.add(end);
        const timeout = Math.max(1, untilMs - performance.now());
        bus.nc
          .request(subject, payload, { timeout, ...(headers && { headers }) })
          .then(end, (error: unknown) => end(isNoResponders(error) ? 'nobody' : undefined));
      };
      if (bus.connected()) send();
      else void connectedBy(untilMs).then((connected) => (connected ? send() : done(undefined)));
    },
    connectedBy,
    lostSince: (sinceMs) => !bus.connected() || lostAtMs > sinceMs,
    awayMs: () => (bus.connected() ? 0 : performance.now() - lostAtMs),
  };
};

const isNoResponders = (error: unknown): boolean =>
  error instanceof NoRespondersError || (error instanceof RequestError && error.isNoResponders());
