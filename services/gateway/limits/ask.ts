import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '@causeway/runtime';
import type { Msg, MsgHdrs } from '@nats-io/transport-node';

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
 * given up at once. Answers come to one inbox: the client's own requests make an error with its stack for each, 3 % of the
 * gateway's processor time.
 */
export const createAsker = (bus: Bus): Asker => {
  const inbox = bus.inbox();
  const underWay = new Map<string, PendingQuestion>();
  let lastQuestion = 0;
  const end = (subject: string, answer: Msg | 'nobody' | undefined): void => {
    const waiting = underWay.get(subject);
    if (!underWay.delete(subject)) return;
    clearTimeout(waiting!.timer);
    waiting!.done(answer);
  };
  bus.nc.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      if (!error) end(message.subject, isNoResponders(message) ? 'nobody' : message);
    },
  });
  let back = Promise.withResolvers<void>();
  let lostAtMs = Number.NEGATIVE_INFINITY;
  bus.onDisconnect(() => {
    lostAtMs = performance.now();
    for (const subject of [...underWay.keys()]) end(subject, undefined);
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
        const reply = `${inbox}.${++lastQuestion}`;
        const timer = setTimeout(() => end(reply, undefined), Math.max(1, untilMs - performance.now()));
        underWay.set(reply, { done, timer });
        try {
          bus.nc.publish(subject, payload, { reply, ...(headers && { headers }) });
        } catch {
          end(reply, undefined);
        }
      };
      if (bus.connected()) send();
      else void connectedBy(untilMs).then((connected) => (connected ? send() : done(undefined)));
    },
    connectedBy,
    lostSince: (sinceMs) => !bus.connected() || lostAtMs > sinceMs,
    awayMs: () => (bus.connected() ? 0 : performance.now() - lostAtMs),
  };
};

interface PendingQuestion {
  readonly done: AnswerCallback;
  readonly timer: NodeJS.Timeout;
}

const isNoResponders = ({ data, headers }: Msg): boolean => data.length === 0 && headers?.code === 503;
