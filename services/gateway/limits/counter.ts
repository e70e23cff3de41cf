import { atTurnEnd, type Bus, eachTick, type Log, type Metrics, noMetrics } from '@causeway/runtime';
import { gatewayMetrics } from '../metrics.ts';
import { createAsker } from './ask.ts';
import { positionLength } from './counts.ts';
import { createRoute } from './route.ts';

/** The request was not counted in time, so it must not be admitted. */
export class CountError extends Error {
  override readonly name = 'CountError';
}

export interface Counter {
  /** @throws CountError within `timeoutMs`; the request may have been counted. */
  count(take: Take): Promise<Position>;
  /** Exact, like a position. @returns how many were counted in each slot so far. @throws CountError */
  read(window: number, slots: readonly number[]): Promise<readonly number[]>;
  /** So that the first request does not wait for an owner. */
  warm(): Promise<void>;
  drain(): Promise<void>;
}

export interface Take {
  readonly window: number;
  readonly slot: number;
  /** A request beyond the limit of `slot` does not count for the company. */
  readonly limit: number;
  /** 0: none. */
  readonly companySlot: number;
  /**
   * A limit is reached, as far as this gateway knows: the request may wait some milliseconds for others, so
   * that a flood costs few messages.
   */
  readonly deferrable?: boolean;
  /** Counts nothing. */
  readonly reads?: true;
}

/** 1 for the first request. */
export interface Position {
  readonly own: number;
  /** 0 if it did not count for the company. */
  readonly company: number;
}

/** Sends the requests of one tick together to the owner of the counts (`owner.ts`). */
export const createCounter = ({
  bus,
  logs,
  logger,
  metrics = noMetrics,
  timeoutMs,
}: CounterOptions): Counter => {
  const asker = createAsker(bus);
  const outcomes = metrics.counter(gatewayMetrics.limit_batches_total);
  const tally = (outcome: string): void => {
    outcomes.cell(outcome).value++;
  };

  let workedAtMs = performance.now();
  /** A request was counted, or the server is a new one. */
  const noteWorking = (): void => {
    workedAtMs = performance.now();
  };
  bus.onReconnect(noteWorking);

  const route = createRoute({ bus, asker, logs, timeoutMs, metrics, logger, tally });
  metrics.gauge(gatewayMetrics.limit_owner, () => Number(route.owned()));
  let waiting: WaitingRequest[] = [];
  let flushing = false;

  let loggedAtMs = Number.NEGATIVE_INFINITY;
  const logFailure = (cause: unknown): void => {
    if (performance.now() - loggedAtMs < logEveryMs) return;
    loggedAtMs = performance.now();
    logger?.warn({ error: cause }, 'count failed');
  };

  const flush = (): void => {
    const gathered = waiting;
    waiting = [];
    flushing = false;
    for (const [window, requests] of Map.groupBy(gathered, ({ take }) => take.window)) {
      const groups = gather(requests);
      const fail = (error: CountError): void => {
        for (const request of requests) request.reject(error);
      };
      // Counts turns, because a process that stood still has answers that it has not read.
      let turns = 0;
      const stopWaiting = eachTick(() => {
        turns++;
        // The NATS server may be cut off from the logs, though it answers.
        if (turns % turnsUntilLeft === 0 && performance.now() - workedAtMs >= serverSilentMs) {
          noteWorking();
          bus.switchServer('too few logs of the limiter answer through it');
        }
        if (turns * turnMs < timeoutMs) return;
        stopWaiting();
        tally('timeout');
        fail(new CountError('the counters did not answer in time'));
      }, turnMs);
      const takes = groups.flatMap(([{ take }, ...more]) => [
        ...[take.slot, take.limit, take.reads ? 0 : 1 + more.length, take.companySlot],
      ]);
      route.count(window, takes, performance.now() + timeoutMs).then(
        (positions) => {
          stopWaiting();
          noteWorking();
          for (const [at, group] of groups.entries()) {
            const position = positions[at * positionLength]!;
            const company = positions[at * positionLength + 1]!;
            for (const [place, { take, resolve }] of group.entries()) {
              const after = take.reads ? 0 : place;
              resolve({
                own: position + after,
                company: company > 0 && position + after <= take.limit ? company + after : 0,
              });
            }
          }
        },
        (cause: unknown) => {
          stopWaiting();
          tally('failed');
          logFailure(cause);
          fail(new CountError('not counted', { cause }));
        },
      );
    }
  };

  const count: Counter['count'] = (take) =>
    new Promise((resolve, reject) => {
      // A lost connection is normally back within milliseconds, through another server.
      if (asker.awayMs() > maxAwayMs) {
        tally('disconnected');
        return reject(new CountError('NATS is disconnected'));
      }
      const first = waiting.push({ take, resolve, reject }) === 1;
      if (take.deferrable) {
        if (first) setTimeout(flush, deferMs);
      } else if (!flushing) {
        flushing = true;
        atTurnEnd(flush);
      }
    });

  return {
    count,
    // Nothing counts them, so they must cost few messages, too.
    read: async (window, slots) => {
      const reads = { window, limit: 0, companySlot: 0, deferrable: true, reads: true } as const;
      const next = await Promise.all(slots.map((slot) => count({ ...reads, slot })));
      return next.map(({ own }) => own - 1);
    },
    warm: route.warm,
    drain: route.drain,
  };
};

const gather = (requests: readonly WaitingRequest[]): readonly RequestGroup[] => {
  const groups: [WaitingRequest, ...WaitingRequest[]][] = [];
  const latest = new Map<number, [WaitingRequest, ...WaitingRequest[]]>();
  for (const request of requests) {
    const group = latest.get(request.take.slot);
    if (group && group[0].take.limit === request.take.limit) {
      group.push(request);
      continue;
    }
    const fresh: [WaitingRequest] = [request];
    groups.push(fresh);
    latest.set(request.take.slot, fresh);
  }
  return groups;
};

type RequestGroup = readonly [WaitingRequest, ...WaitingRequest[]];

const deferMs = 10;
const turnMs = 100;
const turnsUntilLeft = 6;
/** Less than `turnsUntilLeft`, whose first turn may come at once. */
const serverSilentMs = 450;
/** A request that begins later is refused at once. */
const maxAwayMs = 500;
const logEveryMs = 5_000;

interface CounterOptions {
  readonly bus: Bus;
  /** The same in every gateway (`limitLogNumbers`). */
  readonly logs: readonly number[];
  readonly timeoutMs: number;
  readonly logger?: Log;
  readonly metrics?: Metrics;
}

interface WaitingRequest {
  readonly take: Take;
  readonly resolve: (position: Position) => void;
  readonly reject: (error: CountError) => void;
}
