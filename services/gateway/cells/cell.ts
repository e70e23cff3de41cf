import {
  laneSubject,
  limitLogNumbers,
  problem,
  replyPrefix,
  type ServiceName,
  services,
} from '@causeway/proto';
import {
  type Bus,
  createLaneClient,
  followKeyTable,
  type KeyTable,
  type Kit,
  type LaneClient,
} from '@causeway/runtime';
import type { GatewayConfig } from '../config.ts';
import { type LastUsed, reportLastUsed } from '../keys/last-used.ts';
import { keepPresence } from '../keys/presence.ts';
import { createCounter } from '../limits/counter.ts';
import { createLimiter, type Limiter } from '../limits/limiter.ts';
import { openSessions, type Sessions } from '../portal/sessions.ts';
import { createTails, type Tails } from '../portal/tails.ts';
import { retry } from '../retry.ts';
import { type RequestCounts, reportRequests } from '../usage/request-counts.ts';

/** Everything of a gateway that works over one NATS cluster: keys, limits, services and sessions of its companies. */
export interface Cell {
  readonly name: string;
  readonly bus: Bus;
  readonly table: KeyTable;
  readonly limiter: Limiter;
  readonly lanes: Readonly<Record<ServiceName, LaneClient>>;
  readonly lastUsed: LastUsed;
  readonly requests: RequestCounts;
  readonly sessions: Sessions;
  readonly tails: Tails;
}

/** If the counters do not answer within this time, the request is refused (contract, "Rate limits"). */
const countTimeoutMs = 500;
/** Number of partitions, and so of owners. */
const limitPartitions = 1;
/** An election takes up to nine seconds if a server has just died. */
const startPatienceMs = 30_000;

/** Starts what a gateway needs of one cell. What it starts is registered with the kit, so that the kit's stop ends it. */
export const startCell = async (
  kit: CellKit,
  bus: Bus,
  name: string,
  config: GatewayConfig,
): Promise<Cell> => {
  const { log, metrics, instance } = kit;
  // A cluster that has just started is still electing its leaders.
  const atStart = <Result>(work: () => Promise<Result>): Promise<Result> =>
    retry(work, {
      withinMs: startPatienceMs,
      onError: (error) => log.info({ reason: String(error) }, 'NATS is not ready yet'),
    });
  const counter = createCounter({
    bus,
    logs: limitLogNumbers(config.NATS_REPLICAS),
    partitions: limitPartitions,
    timeoutMs: countTimeoutMs,
    logger: log,
    metrics,
  });
  kit.onStop('counters', () => counter.drain());

  const lanes = Object.fromEntries(
    services.map((service) => [service, openLane(service, kit, bus, config)]),
  ) as Record<ServiceName, LaneClient>;
  kit.onStop('lanes', () => {
    for (const lane of Object.values(lanes)) lane.close();
  });

  const lastUsed = reportLastUsed({ bus, metrics });
  kit.onStop('last use', lastUsed.flush);

  const requests = reportRequests({ bus, metrics });
  kit.onStop('request counts', requests.flush);

  const table = followKeyTable({ bus, confirmsAs: instance, log, metrics });
  kit.onStop('key table', () => table.close());
  // Lists itself before it reads the table: a listed gateway receives every revocation.
  const presence = await atStart(() =>
    keepPresence({
      bus,
      instance,
      log,
      onLapse: () => void table.reload('its presence had lapsed'),
    }),
  );
  kit.onStop('presence', () => presence.close());
  bus.onReconnect(() => void table.reload('NATS is back'));
  await table.reload('start');
  await atStart(counter.warm);

  const tails = createTails({
    bus,
    metrics,
    limits: {
      all: config.TAILS_MAX,
      company: config.TAILS_PER_COMPANY,
      session: config.TAILS_PER_SESSION,
    },
  });
  return {
    name,
    bus,
    table,
    limiter: createLimiter(counter),
    lanes,
    lastUsed,
    requests,
    sessions: openSessions(lanes),
    tails,
  };
};

export type CellKit = Pick<Kit, 'log' | 'metrics' | 'tracer' | 'instance' | 'onStop'>;

/** @throws Problem `company_moving` while the company is closed in this cell. */
export const requireOpen = ({ table }: Pick<Cell, 'table'>, companyId: number): void => {
  if (table.company(companyId)?.closed) throw problem('company_moving');
};

const openLane = (service: ServiceName, kit: CellKit, bus: Bus, config: GatewayConfig): LaneClient =>
  createLaneClient({
    bus,
    lane: service,
    subject: laneSubject(service),
    replySubject: `${replyPrefix('gateway')}.${kit.instance}.${service}`,
    maxInFlight: config.LANE_MAX_IN_FLIGHT,
    metrics: kit.metrics,
    tracer: kit.tracer,
    log: kit.log,
  });
