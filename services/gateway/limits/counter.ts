import { limitCountSubject } from '@causeway/proto';
import { type Bus, isRequest, type Log, type Metrics, noMetrics } from '@causeway/runtime';
import { type Msg, NoRespondersError, RequestError, TimeoutError } from '@nats-io/transport-node';
import { type Positions, partitionOf, positionLength, type Takes } from './counts.ts';
import { FencedError, type LimitLog } from './log.ts';
import { claimPartition, type Listener, MovedError, type Partition, understandsTakes } from './partition.ts';

/** No answer from the counters within the time allowed: the request must not be let through. */
export class CountError extends Error {
  override readonly name = 'CountError';
}

/** Counts requests exactly, over any number of gateways. */
export interface Counter {
  /** @throws CountError within `timeoutMs`; the request may have been counted. */
  count(take: Take): Promise<Position>;
  /** Finds or takes every partition's owner, so that the first request does not pay for it. */
  warm(): Promise<void>;
  /** Gives up this process's partitions, for others to take. */
  drain(): Promise<void>;
}

/** A request to be counted. */
export interface Take {
  readonly window: number;
  readonly companyId: number;
  readonly slot: number;
  /** Of `slot`: a request beyond it does not count for the company. */
  readonly limit: number;
  /** Where it counts for its company; 0: nowhere. */
  readonly companySlot: number;
  /**
   * It will be refused, as far as this gateway knows: it may wait some milliseconds for others, so that a flood
   * costs few messages.
   */
  readonly patient?: boolean;
}

/** Where a request came in its window: 1 for the first. */
export interface Position {
  readonly own: number;
  /** 0 where it did not count for the company. */
  readonly company: number;
}

/** What a gateway sends to an owner. The release before sent `[window, slots]`. */
interface CountRequest {
  readonly window: number;
  readonly takes: Takes;
}

/**
 * Requests of one tick and partition travel together. Each partition of the slots has one owner among the
 * gateways, who counts in memory and answers when the counts are in the partition's log (`partition.ts`).
 * An owner is found by the epoch in the log's last message; where nobody listens under it, whoever needs
 * the partition takes it.
 */
export const createCounter = ({
  bus,
  log,
  logger,
  metrics = noMetrics,
  partitions,
  timeoutMs,
}: CounterOptions): Counter => {
  const routes = Array.from(
    { length: partitions },
    (_, partition): Route => ({
      partition,
      local: undefined,
      epoch: undefined,
      deadEpoch: undefined,
      timeoutsInRow: 0,
      waiting: [],
      flushing: false,
      resolving: undefined,
    }),
  );
  const outcomes = metrics.counter('limit_batches_total', 'Batches of requests counted, by where', [
    'outcome',
  ]);
  metrics.gauge(
    'limit_partitions_owned',
    'Partitions of the rate limiter that this process owns',
    () => routes.filter((route) => route.local?.owned()).length,
  );
  const tally = (outcome: string): void => {
    outcomes.cell(outcome).value++;
  };

  let toldAtMs = Number.NEGATIVE_INFINITY;
  let failingSinceMs: number | undefined;
  /** A server that is there and by which nothing can be counted is cut off from the others, or ill. */
  const leaveIfInVain = (): void => {
    failingSinceMs ??= performance.now();
    if (performance.now() - failingSinceMs < inVainMs) return;
    failingSinceMs = undefined;
    bus.moveOn('requests could not be counted by it');
  };
  /** Why requests are answered 503, and not a line for each. */
  const tell = (cause: unknown): void => {
    if (performance.now() - toldAtMs < tellEveryMs) return;
    toldAtMs = performance.now();
    logger?.warn({ error: cause }, 'requests could not be counted');
  };

  /** Answers the other gateways for a partition that this one owns. */
  const listen =
    (route: Route) =>
    (owned: Partition): Listener => {
      const subscription = bus.nc.subscribe(limitCountSubject(route.partition, owned.epoch), {
        callback: (error: Error | null, message: Msg) => {
          if (error || !isRequest(message)) return;
          const asked = message.json<CountRequest | FormerRequest>();
          answer(owned, asked).then(
            (positions) => message.respond(JSON.stringify(positions)),
            // Silence where it is unknown whether the requests were counted: the caller's time-out says so.
            (cause: unknown) => cause instanceof MovedError && message.respond('"moved"'),
          );
        },
      });
      return { close: () => subscription.drain().catch(() => {}) };
    };

  /** Finds the partition's owner, or becomes it. Concurrent calls share one attempt. */
  const resolveOwner = (route: Route): Promise<void> => {
    route.resolving ??= (async () => {
      const tail = await log.tail(route.partition);
      if (tail.epoch !== null && tail.epoch !== route.deadEpoch && understandsTakes(tail.epoch)) {
        route.epoch = tail.epoch;
        return;
      }
      try {
        route.local = await claimPartition(log, route.partition, listen(route), { metrics });
        route.epoch = route.local.epoch;
        logger?.info({ partition: route.partition, epoch: route.epoch }, 'counting a partition');
      } catch (error) {
        if (!(error instanceof FencedError)) throw error;
        // Somebody is at work there: another who has taken it, or the one that seemed dead and was only slow.
        route.deadEpoch = undefined;
      }
    })().finally(() => {
      route.resolving = undefined;
    });
    return route.resolving;
  };

  const forget = (route: Route, epoch: string, dead: boolean): void => {
    if (dead) route.deadEpoch = epoch;
    if (route.epoch === epoch) route.epoch = undefined;
    if (route.local?.epoch === epoch) route.local = undefined;
  };

  /** One try. @returns undefined where nothing was counted and another try is safe. */
  const attempt = async (
    route: Route,
    window: number,
    takes: Takes,
    leftMs: number,
  ): Promise<Positions | undefined> => {
    if (route.epoch === undefined) await resolveOwner(route);
    const { epoch, local } = route;
    if (epoch === undefined) return undefined;
    try {
      if (local?.epoch === epoch) {
        const positions = await local.count(window, takes);
        tally('local');
        return positions;
      }
      const reply = await bus.nc.request(
        limitCountSubject(route.partition, epoch),
        JSON.stringify({ window, takes } satisfies CountRequest),
        { timeout: Math.max(1, leftMs) },
      );
      route.timeoutsInRow = 0;
      const positions = reply.json<Positions | 'moved'>();
      if (positions !== 'moved') {
        tally('remote');
        return positions;
      }
      forget(route, epoch, false);
    } catch (error) {
      if (error instanceof MovedError) {
        forget(route, epoch, true);
      } else if (isNobodyThere(error)) {
        forget(route, epoch, true);
      } else {
        // The owner hangs or is cut off. Twice in a row, and the partition is taken from it.
        if (local?.epoch === epoch) forget(route, epoch, true);
        else if (error instanceof TimeoutError && ++route.timeoutsInRow >= 2) forget(route, epoch, true);
        throw error;
      }
    }
    tally('moved');
    return undefined;
  };

  const countBatch = async (route: Route, window: number, takes: Takes): Promise<Positions> => {
    const deadlineMs = performance.now() + timeoutMs;
    for (let leftMs = timeoutMs; leftMs > 0; leftMs = deadlineMs - performance.now()) {
      if (!bus.connected()) break;
      const positions = await attempt(route, window, takes, leftMs);
      if (positions) return positions;
    }
    throw new CountError('no owner counted in time');
  };

  const flush = (route: Route): void => {
    const waiting = route.waiting;
    route.waiting = [];
    route.flushing = false;
    for (const [window, requests] of Map.groupBy(waiting, ({ take }) => take.window)) {
      const groups = gather(requests);
      const fail = (error: CountError): void => {
        for (const request of requests) request.reject(error);
      };
      const late = setTimeout(() => {
        tally('timeout');
        fail(new CountError('the counters did not answer in time'));
      }, timeoutMs);
      countBatch(
        route,
        window,
        groups.flatMap(([{ take }, ...more]) => [take.slot, take.limit, 1 + more.length, take.companySlot]),
      ).then(
        (positions) => {
          clearTimeout(late);
          failingSinceMs = undefined;
          for (const [at, group] of groups.entries()) {
            const own = positions[at * positionLength]!;
            const company = positions[at * positionLength + 1]!;
            for (const [after, { take, resolve }] of group.entries())
              resolve({
                own: own + after,
                company: company > 0 && own + after <= take.limit ? company + after : 0,
              });
          }
        },
        (cause: unknown) => {
          clearTimeout(late);
          tally('failed');
          tell(cause);
          leaveIfInVain();
          fail(new CountError('not counted', { cause }));
        },
      );
    }
  };

  return {
    count: (take) =>
      new Promise((resolve, reject) => {
        // While NATS is away there is nothing to wait for (contract, "Rate limits").
        if (!bus.connected()) return reject(new CountError('NATS is disconnected'));
        const route = routes[partitionOf(take.companyId, partitions)]!;
        const first = route.waiting.push({ take, resolve, reject }) === 1;
        if (take.patient) {
          if (first) setTimeout(flush, patienceMs, route);
        } else if (!route.flushing) {
          route.flushing = true;
          setImmediate(flush, route);
        }
      }),
    warm: async () => {
      await Promise.all(routes.map(resolveOwner));
    },
    drain: async () => {
      await Promise.all(routes.map((route) => route.local?.release()));
    },
  };
};

/** Requests of one slot under one limit, in the order in which they came. */
const gather = (requests: readonly Waiting[]): readonly Group[] => {
  const groups: [Waiting, ...Waiting[]][] = [];
  const latest = new Map<number, [Waiting, ...Waiting[]]>();
  for (const request of requests) {
    const group = latest.get(request.take.slot);
    if (group && group[0].take.limit === request.take.limit) {
      group.push(request);
      continue;
    }
    const fresh: [Waiting] = [request];
    groups.push(fresh);
    latest.set(request.take.slot, fresh);
  }
  return groups;
};

type Group = readonly [Waiting, ...Waiting[]];

/** While gateways of the release before are running: they ask with slots alone and want one position for each. */
type FormerRequest = readonly [window: number, slots: readonly number[]];

const answer = async (owned: Partition, asked: CountRequest | FormerRequest): Promise<Positions> => {
  if ('takes' in asked) return owned.count(asked.window, asked.takes);
  const [window, slots] = asked;
  const takes = slots.flatMap((slot) => [slot, Number.MAX_SAFE_INTEGER, 1, 0]);
  const positions = await owned.count(window, takes);
  return positions.filter((_, at) => at % positionLength === 0);
};

const patienceMs = 10;
const tellEveryMs = 5_000;
/** Longer than a cluster mostly takes to choose a new leader. */
const inVainMs = 6_000;

const isNobodyThere = (error: unknown): boolean =>
  error instanceof NoRespondersError || (error instanceof RequestError && error.isNoResponders());

export interface CounterOptions {
  readonly bus: Bus;
  readonly log: LimitLog;
  readonly partitions: number;
  readonly timeoutMs: number;
  readonly logger?: Log;
  readonly metrics?: Metrics;
}

interface Route {
  readonly partition: number;
  /** This process's own partition, while it owns it. */
  local: Partition | undefined;
  /** Where to ask; undefined while it has to be found out. */
  epoch: string | undefined;
  /** An owner that is known to be gone. */
  deadEpoch: string | undefined;
  timeoutsInRow: number;
  waiting: Waiting[];
  /** Whether what waits will be sent in this tick. */
  flushing: boolean;
  resolving: Promise<void> | undefined;
}

interface Waiting {
  readonly take: Take;
  readonly resolve: (position: Position) => void;
  readonly reject: (error: CountError) => void;
}
