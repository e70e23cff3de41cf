import { limitCountSubject } from '@causeway/proto';
import { type Bus, isRequest, type Log, type Metrics, noMetrics } from '@causeway/runtime';
import { type Msg, NoRespondersError, RequestError, TimeoutError } from '@nats-io/transport-node';
import { gatewayMetrics } from '../metrics.ts';
import { type Positions, partitionOf, positionLength, type Takes } from './counts.ts';
import { FencedError, type LimitLog } from './log.ts';
import { claimPartition, type Listener, MovedError, type Partition, understandsTakes } from './partition.ts';

/** The request could not be counted in time, so it must not be admitted. */
export class CountError extends Error {
  override readonly name = 'CountError';
}

/** Counts requests exactly, over any number of gateways. */
export interface Counter {
  /** @throws CountError within `timeoutMs`; the request may have been counted. */
  count(take: Take): Promise<Position>;
  /** Finds every partition's owner, or takes it over, so that the first request does not wait for it. */
  warm(): Promise<void>;
  /** Releases this process's partitions to other gateways. */
  drain(): Promise<void>;
}

/** A request to be counted. */
export interface Take {
  readonly window: number;
  readonly companyId: number;
  readonly slot: number;
  /** The limit of `slot`: a request beyond it does not count for the company. */
  readonly limit: number;
  /** The company's slot; 0: none. */
  readonly companySlot: number;
  /**
   * Whether a limit is reached, as far as this gateway knows: the request may then wait some milliseconds for others, so
   * that a flood costs few messages.
   */
  readonly deferrable?: boolean;
}

/** A request's position in its window: 1 for the first. */
export interface Position {
  readonly own: number;
  /** 0 if it did not count for the company. */
  readonly company: number;
}

/** A gateway's message to an owner. The previous release sent `[window, slots]`. */
interface CountRequest {
  readonly window: number;
  readonly takes: Takes;
}

/**
 * Sends the requests of one tick and partition together. Each partition of the slots has one owner among the gateways,
 * which counts in memory and answers when the counts are in the partition's log (`partition.ts`). The epoch in the log's
 * last message identifies the owner; if no gateway listens under it, the gateway that needs the partition takes it over.
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
  const outcomes = metrics.counter(gatewayMetrics.limit_batches_total);
  metrics.gauge(
    gatewayMetrics.limit_partitions_owned,
    () => routes.filter((route) => route.local?.owned()).length,
  );
  const tally = (outcome: string): void => {
    outcomes.cell(outcome).value++;
  };

  let loggedAtMs = Number.NEGATIVE_INFINITY;
  let failingSinceMs: number | undefined;
  /** Leaves a NATS server through which no count succeeds: it is partitioned or unhealthy. */
  const switchServerIfFailing = (): void => {
    failingSinceMs ??= performance.now();
    if (performance.now() - failingSinceMs < switchServerAfterMs) return;
    failingSinceMs = undefined;
    bus.switchServer('no count succeeded through it');
  };
  /** Logs why requests are answered 503, at most once per interval. */
  const logFailure = (cause: unknown): void => {
    if (performance.now() - loggedAtMs < logEveryMs) return;
    loggedAtMs = performance.now();
    logger?.warn({ error: cause }, 'count failed');
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
            // No answer if it is unknown whether the requests were counted: the caller runs into its timeout.
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
        logger?.info({ partition: route.partition, epoch: route.epoch }, 'partition taken over');
      } catch (error) {
        if (!(error instanceof FencedError)) throw error;
        // A live owner exists: another gateway took the partition over, or the owner that seemed dead was only slow.
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

  /** Counts once. @returns undefined if nothing was counted and a retry is safe. */
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
      } else if (isNoResponders(error)) {
        forget(route, epoch, true);
      } else {
        // The owner hangs or is partitioned. After two timeouts in a row, another gateway takes its partition over.
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
          logFailure(cause);
          switchServerIfFailing();
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
        if (take.deferrable) {
          if (first) setTimeout(flush, deferMs, route);
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

/** The request of the previous release's gateways: slots alone, answered with one position for each. */
type FormerRequest = readonly [window: number, slots: readonly number[]];

const answer = async (owned: Partition, asked: CountRequest | FormerRequest): Promise<Positions> => {
  if ('takes' in asked) return owned.count(asked.window, asked.takes);
  const [window, slots] = asked;
  const takes = slots.flatMap((slot) => [slot, Number.MAX_SAFE_INTEGER, 1, 0]);
  const positions = await owned.count(window, takes);
  return positions.filter((_, at) => at % positionLength === 0);
};

const deferMs = 10;
const logEveryMs = 5_000;
/** Longer than a cluster usually takes to elect a new leader. */
const switchServerAfterMs = 6_000;

const isNoResponders = (error: unknown): boolean =>
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
  /** The owner's epoch; undefined while it is unknown. */
  epoch: string | undefined;
  /** An owner that is known to be gone. */
  deadEpoch: string | undefined;
  timeoutsInRow: number;
  waiting: Waiting[];
  /** Whether the waiting requests will be sent in this tick. */
  flushing: boolean;
  resolving: Promise<void> | undefined;
}

interface Waiting {
  readonly take: Take;
  readonly resolve: (position: Position) => void;
  readonly reject: (error: CountError) => void;
}
