import { limitCountSubject } from '@causeway/proto';
import type { Bus, CounterFamily, Log, Metrics } from '@causeway/runtime';
import { type Msg, NoRespondersError, RequestError, TimeoutError } from '@nats-io/transport-node';
import { partitionOf } from './counts.ts';
import { FencedError, type LimitLog } from './log.ts';
import { claimPartition, type Listener, MovedError, type Partition } from './partition.ts';

/** No answer from the counters within the time allowed: the request must not be let through. */
export class CountError extends Error {
  override readonly name = 'CountError';
}

/** Counts requests exactly, over any number of gateways. */
export interface Counter {
  /**
   * @returns the request's position in its window: 1 for the first.
   * @throws CountError within `timeoutMs`; the request may have been counted.
   */
  count(window: number, slot: number): Promise<number>;
  /** Finds or takes every partition's owner, so that the first request does not pay for it. */
  warm(): Promise<void>;
  /** Gives up this process's partitions, for others to take. */
  drain(): Promise<void>;
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
  metrics,
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
      resolving: undefined,
    }),
  );
  const outcomes: CounterFamily | undefined = metrics?.counter(
    'limit_batches_total',
    'Batches of requests counted, by where',
    ['outcome'],
  );
  metrics?.gauge(
    'limit_partitions_owned',
    'Partitions of the rate limiter that this process owns',
    () => routes.filter((route) => route.local?.owned()).length,
  );
  const tally = (outcome: string): void => {
    const cell = outcomes?.cell(outcome);
    if (cell) cell.value++;
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
          if (error) return;
          const [window, slots] = message.json<[number, number[]]>();
          owned.count(window, slots).then(
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
      if (tail.epoch !== null && tail.epoch !== route.deadEpoch) {
        route.epoch = tail.epoch;
        return;
      }
      try {
        route.local = await claimPartition(log, route.partition, listen(route));
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
    slots: readonly number[],
    leftMs: number,
  ): Promise<readonly number[] | undefined> => {
    if (route.epoch === undefined) await resolveOwner(route);
    const { epoch, local } = route;
    if (epoch === undefined) return undefined;
    try {
      if (local?.epoch === epoch) {
        const positions = await local.count(window, slots);
        tally('local');
        return positions;
      }
      const reply = await bus.nc.request(
        limitCountSubject(route.partition, epoch),
        JSON.stringify([window, slots]),
        { timeout: Math.max(1, leftMs) },
      );
      route.timeoutsInRow = 0;
      const positions = reply.json<number[] | 'moved'>();
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

  const countBatch = async (
    route: Route,
    window: number,
    slots: readonly number[],
  ): Promise<readonly number[]> => {
    const deadlineMs = performance.now() + timeoutMs;
    for (let leftMs = timeoutMs; leftMs > 0; leftMs = deadlineMs - performance.now()) {
      if (!bus.connected()) break;
      const positions = await attempt(route, window, slots, leftMs);
      if (positions) return positions;
    }
    throw new CountError('no owner counted in time');
  };

  const flush = (route: Route): void => {
    const waiting = route.waiting;
    route.waiting = [];
    for (const [window, group] of Map.groupBy(waiting, (request) => request.window)) {
      const late = setTimeout(() => {
        tally('timeout');
        for (const request of group) request.reject(new CountError('the counters did not answer in time'));
      }, timeoutMs);
      countBatch(
        route,
        window,
        group.map((request) => request.slot),
      ).then(
        (positions) => {
          clearTimeout(late);
          failingSinceMs = undefined;
          for (const [at, request] of group.entries()) request.resolve(positions[at]!);
        },
        (cause: unknown) => {
          clearTimeout(late);
          tally('failed');
          tell(cause);
          leaveIfInVain();
          for (const request of group) request.reject(new CountError('not counted', { cause }));
        },
      );
    }
  };

  return {
    count: (window, slot) =>
      new Promise((resolve, reject) => {
        // While NATS is away there is nothing to wait for (decisions, "503").
        if (!bus.connected()) return reject(new CountError('NATS is disconnected'));
        const route = routes[partitionOf(slot, partitions)]!;
        if (route.waiting.push({ window, slot, resolve, reject }) === 1) setImmediate(flush, route);
      }),
    warm: async () => {
      await Promise.all(routes.map(resolveOwner));
    },
    drain: async () => {
      await Promise.all(routes.map((route) => route.local?.release()));
    },
  };
};

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
  resolving: Promise<void> | undefined;
}

interface Waiting {
  readonly window: number;
  readonly slot: number;
  readonly resolve: (position: number) => void;
  readonly reject: (error: CountError) => void;
}
