import { randomBytes } from 'node:crypto';
import { contract, type KeyRing } from '@causeway/proto';
import {
  type Bus,
  type Database,
  followCallers,
  type Handler,
  type Log,
  type Metrics,
  noMetrics,
  type OperationHandlers,
  serveOperations,
  type Tracer,
} from '@causeway/runtime';
import { defaultQuotas, type Quotas, type TargetRules, type WebhooksContext } from './context.ts';
import { openCursors } from './cursors.ts';
import { startHeldCount } from './deliveries/held.ts';
import * as deliveries from './deliveries/index.ts';
import * as events from './events/index.ts';
import { startFanOut } from './fan-out/start-fan-out.ts';
import { forViewers } from './portal/for-viewers.ts';
import * as portal from './portal/index.ts';
import * as replays from './replays/index.ts';
import { startReplayer } from './replays/replayer.ts';
import { startRetention } from './retention/retention.ts';
import { reencryptSecrets } from './secrets/reencrypt-secrets.ts';
import * as subscriptions from './subscriptions/index.ts';
import type { Tables } from './tables.ts';
import { startChallenges } from './verification/challenges.ts';

export interface Webhooks {
  /** Whether callers can be checked. */
  ready(): boolean;
  /** Takes nothing more, and resolves when everything taken is answered and every job is at rest. */
  drain(): Promise<void>;
}

export interface WebhooksOptions {
  readonly bus: Bus;
  readonly db: Database<Tables>;
  readonly instance: string;
  readonly log: Log;
  readonly metrics?: Metrics;
  readonly tracer?: Tracer | undefined;
  readonly keyRing: KeyRing;
  /** https and public hosts only, unless given. */
  readonly targets?: TargetRules;
  /** The defaults, unless given. */
  readonly quotas?: Quotas;
  readonly retentionDays?: number;
  /** Copies of each stream in the NATS cluster; 1 unless given. */
  readonly replicas?: number;
  readonly now?: () => Date;
  readonly random?: (bytes: number) => Uint8Array;
}

/** Serves the lane `webhooks` as one of its replicas, and does its share of the service's jobs. */
export const createWebhooks = async (options: WebhooksOptions): Promise<Webhooks> => {
  const {
    bus,
    db,
    instance,
    log,
    metrics = noMetrics,
    tracer,
    keyRing,
    now = () => new Date(),
    random = randomBytes,
  } = options;
  const targets = options.targets ?? { allowHttp: false, allowPrivate: false };
  const cursors = openCursors({ db, keyRing, random });
  const callers = followCallers({ bus, log, metrics, now });
  const quotas = options.quotas ?? defaultQuotas;
  const challenges = startChallenges({ bus, db, log, tracer, now, random });
  const context: WebhooksContext = {
    bus,
    db,
    log,
    tracer,
    keyRing,
    targets,
    quotas,
    cursors,
    challenges,
    now,
    random,
  };
  const lane = await serveOperations({
    lane: 'webhooks',
    handlers: handlersOf(context),
    callers,
    bus,
    instance,
    log,
    tracer,
    metrics,
  });
  const operatorLane = await serveOperations({
    lane: 'operator-webhooks',
    handlers: { reencryptSecrets: reencryptSecrets(context) },
    bus,
    instance,
    log,
    tracer,
  });
  const retention = startRetention({ db, log, metrics, days: options.retentionDays ?? 30, now });
  const fanOut = await startFanOut({ bus, db, log, metrics, tracer, replicas: options.replicas ?? 1, now });
  const replayer = startReplayer({ db, log, metrics, now });
  const heldCount = startHeldCount({ db, log, now });
  return {
    ready: callers.ready,
    drain: async () => {
      await Promise.all([
        lane.drain(),
        operatorLane.drain(),
        fanOut.drain(),
        replayer.stop(),
        heldCount.stop(),
      ]);
      await challenges.drain();
      callers.close();
      await retention.stop();
    },
  };
};

const handlersOf = (context: WebhooksContext): OperationHandlers => {
  const operations = Object.entries<(context: WebhooksContext) => Handler>({
    ...subscriptions,
    ...events,
    ...deliveries,
    ...replays,
    ...portal,
  });
  return Object.fromEntries(
    operations.map(([id, create]) => {
      const handler = create(context);
      return [id, id in contract ? forViewers(handler) : handler];
    }),
  );
};
