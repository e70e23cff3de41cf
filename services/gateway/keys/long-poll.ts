import {
  type KeyEntry,
  readQueryString,
  type WrittenKind,
  type WrittenNotice,
  writtenSubject,
} from '@causeway/proto';
import { type Bus, type LaneAnswer, LaneError, type Metrics } from '@causeway/runtime';
import type { Subscription } from '@nats-io/transport-node';
import { createAdmissionBound } from '../bounds.ts';
import { gatewayMetrics } from '../metrics.ts';

/** Requests with `wait` that have read to the end (contract, "Waiting"). */
export interface HeldRequests {
  /**
   * Asks again whenever something is written to the company, until the page is not empty or the time is over. A page that is
   * not empty gathers more for a second. The gateway waits, not the service, so that a held request takes no place of a lane.
   * @returns the last answer; at once if there is more to read, or no place is free.
   */
  hold(request: HeldRequest): Promise<LaneAnswer>;
  /** Answers all now; later ones are not held. */
  close(): void;
}

interface HeldRequest {
  readonly key: Pick<KeyEntry, 'id' | 'companyId'>;
  readonly kind: WrittenKind;
  readonly query: string;
  readonly first: LaneAnswer;
  readonly ask: (query: string) => Promise<LaneAnswer>;
  /** @param onGone called if the client disconnects. @returns a function that ends the waiting. */
  readonly beginWaiting: (onGone: () => void) => () => void;
}

export const createHeldRequests = ({ bus, metrics }: HeldOptions): HeldRequests => {
  const ofKeys = createAdmissionBound(heldOfKey, maxHeld);
  const ofCompanies = createAdmissionBound(heldOfCompany, maxHeld);
  const listeners = new Map<string, Set<Waiting>>();
  let notices: Subscription | undefined;
  const waiting = new Set<Waiting>();
  let closed = false;
  metrics.gauge(gatewayMetrics.gateway_requests_held, () => waiting.size);
  // Notices were lost meanwhile.
  bus.onReconnect(() => {
    for (const one of waiting) one.tell();
  });

  const tellAll = (notice: WrittenNotice): void => {
    for (const kind of ['events', 'changes'] as const)
      for (const companyId of notice[kind])
        for (const one of listeners.get(listName(kind, companyId)) ?? []) one.tell();
  };

  /** A gateway without waiting readers gets no notices. */
  const listen = (kind: WrittenKind, companyId: number, waiting: Waiting): (() => void) => {
    const name = listName(kind, companyId);
    const ofList = listeners.get(name) ?? new Set();
    listeners.set(name, ofList);
    ofList.add(waiting);
    notices ??= bus.nc.subscribe(writtenSubject, {
      callback: (error, message) => {
        if (!error) tellAll(message.json());
      },
    });
    return () => {
      ofList.delete(waiting);
      if (ofList.size === 0) listeners.delete(name);
      if (listeners.size > 0) return;
      notices?.unsubscribe();
      notices = undefined;
    };
  };

  const waitForPage = async (waiting: Waiting, { query, first, ask }: HeldRequest): Promise<LaneAnswer> => {
    // What was written before the server has the subscription is found by the next look.
    await bus.flush();
    // A service that hangs does not make the answer late.
    const look = async (): Promise<LaneAnswer | undefined> => {
      const answer = await Promise.race([ask(from).catch(unlessUnanswered), waiting.over]);
      return answer && answer.status < 500 ? answer : undefined;
    };
    let from = query;
    let last = first;
    for (let looks = 0; isEmptyPage(last); looks++) {
      from = continuing(query, last);
      if (waiting.isOver) return last;
      waiting.isTold = false;
      last = (await look()) ?? last;
      if (!isEmptyPage(last)) break;
      // The company may be writing much that the request leaves out: it is looked at less and less often.
      await waiting.sleep(looks === 0 ? 0 : Math.min(firstPauseMs * 2 ** (looks - 1), longestPauseMs));
      await waiting.untilTold(lookAnywayMs);
    }
    if (!isAtEnd(last)) return last;
    await waiting.sleep(gatherMs);
    return (waiting.isOver ? undefined : await look()) ?? last;
  };

  return {
    hold: async (request) => {
      const { key, kind, query, first, beginWaiting } = request;
      const waitMs = 1000 * Number(readQueryString(query).values.wait ?? 0);
      if (closed || waitMs === 0 || !isAtEnd(first)) return first;
      const leaveKey = ofKeys.tryEnter(String(key.id));
      const leaveCompany = leaveKey && ofCompanies.tryEnter(String(key.companyId));
      if (!leaveCompany) {
        leaveKey?.();
        return first;
      }
      const entry = createWaiting(waitMs);
      waiting.add(entry);
      const unlisten = listen(kind, key.companyId, entry);
      const endWaiting = beginWaiting(entry.end);
      try {
        return await waitForPage(entry, request);
      } finally {
        endWaiting();
        entry.end();
        unlisten();
        waiting.delete(entry);
        leaveCompany();
        leaveKey();
      }
    },
    close: () => {
      closed = true;
      for (const one of waiting) one.end();
    },
  };
};

const listName = (kind: WrittenKind, companyId: number): string => `${kind} ${companyId}`;

interface Waiting {
  isTold: boolean;
  /** The time is over, the client has gone, or the gateway stops. */
  readonly isOver: boolean;
  readonly over: Promise<undefined>;
  tell(): void;
  end(): void;
  /** Ends earlier when the wait is over, as the next one does. */
  sleep(ms: number): Promise<void>;
  untilTold(ms: number): Promise<void>;
}

const createWaiting = (forMs: number): Waiting => {
  let wake = (): void => {};
  let onTold = (): void => {};
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const sleep = (ms: number): Promise<void> =>
    new Promise((done) => {
      if (waiting.isOver || ms === 0) return done();
      const timer = setTimeout(done, ms);
      wake = () => {
        clearTimeout(timer);
        done();
      };
    });
  const waiting = {
    isTold: false,
    isOver: false,
    over,
    tell: () => {
      waiting.isTold = true;
      onTold();
    },
    end: () => {
      clearTimeout(end);
      waiting.isOver = true;
      wake();
      resolve(undefined);
    },
    sleep,
    untilTold: async (ms: number) => {
      if (waiting.isTold) return;
      onTold = () => wake();
      await sleep(ms);
      onTold = () => {};
    },
  };
  const end = setTimeout(waiting.end, forMs);
  return waiting;
};

/** A page can be long, so it is not parsed. */
const isAtEnd = ({ status, body }: LaneAnswer): boolean =>
  status === 200 && body.subarray(-pageEnd.length).equals(pageEnd);
const pageEnd = Buffer.from('"hasMore":false}');

const isEmptyPage = (answer: LaneAnswer): boolean => {
  if (!isAtEnd(answer) || answer.body.length > longestEmptyPage) return false;
  const lists = Object.values(JSON.parse(answer.body.toString())).filter(Array.isArray);
  return lists.every(({ length }) => length === 0);
};

/** Its cursor stands after all that was left out, so that nothing is looked at twice. */
const continuing = (query: string, { body }: LaneAnswer): string => {
  const parameters = new URLSearchParams(query);
  parameters.set('cursor', JSON.parse(body.toString()).nextCursor);
  return parameters.toString();
};

/** A service that does not answer now may do so later. */
const unlessUnanswered = (error: unknown): undefined => {
  if (!(error instanceof LaneError)) throw error;
};

const heldOfKey = 2;
const heldOfCompany = 20;
/** Each looks every five seconds: together 200 times a second. */
const maxHeld = 1_000;
/** In bytes; its cursor has at most 200. */
const longestEmptyPage = 300;
const firstPauseMs = 100;
/** A request that follows without a pause fits 60 times into a minute. */
const gatherMs = 1_000;
const longestPauseMs = 1_000;
/** A notice may get lost. */
const lookAnywayMs = 5_000;

interface HeldOptions {
  readonly bus: Bus;
  readonly metrics: Metrics;
}
