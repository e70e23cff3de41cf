import { randomBytes } from 'node:crypto';
import {
  type MemberOperationId,
  memberOperations,
  type OperationIdOf,
  type resolveSessionOperation,
} from '@causeway/proto';
import {
  type Bus,
  createSessionSigner,
  type Database,
  type Handler,
  type Log,
  type Metrics,
  noMetrics,
  serveOperations,
  type Tracer,
} from '@causeway/runtime';
import * as audit from './audit/index.ts';
import * as catalog from './catalog/index.ts';
import { startCleanup } from './cleanup.ts';
import { createCompany, listCompanies } from './companies/index.ts';
import type { Access, PortalSettings } from './context.ts';
import { openCursors } from './cursors.ts';
import { startKeyTable } from './key-table/key-table.ts';
import { createApiKey, createKey, listApiKeys, listKeys, revokeApiKey, revokeKey } from './keys/index.ts';
import { recordKeyUses } from './keys/key-uses.ts';
import { setLimits } from './limits/index.ts';
import { createHasher } from './passwords/hasher.ts';
import type { AccessTables } from './schema.ts';
import { asStranger } from './sessions/as-stranger.ts';
import { byToken } from './sessions/by-token.ts';
import { createDevices } from './sessions/devices.ts';
import { createGate } from './sessions/gate.ts';
import * as sessions from './sessions/index.ts';
import { reencryptFactors } from './sessions/reencrypt-factors.ts';
import { createRefusals } from './sessions/refusals.ts';
import { createSigner } from './sessions/signer.ts';
import { createPortalOwner } from './team/create-portal-owner.ts';
import * as team from './team/index.ts';
import { resetPortalOwner } from './team/reset-portal-owner.ts';
import * as usage from './usage/index.ts';
import { recordRequests } from './usage/record.ts';

export interface AccessService {
  ready(): boolean;
  /** Stops accepting calls and finishes those in flight. */
  drain(): Promise<void>;
}

/** Companies, API keys, the portal's members and sessions, and the key table that the gateways decide by. */
export const createAccess = async (options: AccessOptions): Promise<AccessService> => {
  const { bus, db, log, metrics = noMetrics, now = () => new Date(), random = randomBytes } = options;
  const sessionProofs = createSessionSigner(options.portal.keyRing);
  const table = await startKeyTable({ ...options, now, signers: sessionProofs.entries });
  const uses = recordKeyUses({ bus, db, log, metrics, now });
  const requests = recordRequests({ bus, db, log, metrics, now });
  const { keyPrefix, keyQuota, portal } = options;
  const cleanup = startCleanup({ db, log, now, portal });
  const access: Access = {
    bus,
    db,
    table,
    log,
    keyPrefix,
    keyQuota,
    portal,
    passwords: createHasher(),
    refusals: createRefusals(),
    gates: {
      strangers: createGate({ atOnce: 2, maxPerKey: 8, maxWaiting: 64 }),
      members: createGate({ atOnce: 2, maxPerKey: 2, maxWaiting: 64 }),
    },
    sessionTokens: createSigner(portal.keyRing, 'session tokens'),
    sessionProofs,
    cursors: openCursors(portal.keyRing),
    devices: createDevices({ signer: createSigner(portal.keyRing, 'devices'), now, random }),
    now,
    random,
  };
  const lanes = await Promise.all([
    serveOperations({ ...options, lane: 'operator', handlers: operatorHandlers(access) }),
    serveOperations({ ...options, lane: 'access', handlers: portalHandlers(access) }),
  ]);
  return {
    ready: () => table.ready() && db.isUp(),
    drain: async () => {
      await Promise.all(lanes.map((lane) => lane.drain()));
      await cleanup.stop();
      await uses.drain();
      await requests.drain();
      await table.stop();
    },
  };
};

const operatorHandlers = (
  access: Access,
): Readonly<Record<OperationIdOf<'access', 'operator'>, Handler>> => ({
  createCompany: createCompany(access),
  listCompanies: listCompanies(access),
  createKey: createKey(access),
  listKeys: listKeys(access),
  revokeKey: revokeKey(access),
  setLimits: setLimits(access),
  createPortalOwner: createPortalOwner(access),
  reencryptFactors: reencryptFactors(access),
  resetPortalOwner: resetPortalOwner(access),
});

/** What the gateways ask for: the portal's operations, and whose session a token is. */
const portalHandlers = (
  access: Access,
): Readonly<Partial<Record<MemberOperationId | typeof resolveSessionOperation, Handler>>> => {
  const creators = {
    ...sessions,
    ...team,
    ...audit,
    ...catalog,
    ...usage,
    createApiKey,
    listApiKeys,
    revokeApiKey,
  };
  const handlers = Object.entries(creators).map(([id, create]) => {
    const handler = create(access);
    const through = forMembers.has(id) ? byToken : forStrangers.has(id) ? asStranger : undefined;
    return [id, through ? through(access, handler) : handler] as const;
  });
  return Object.fromEntries(handlers);
};

/** Operations that require a session. */
const forMembers: ReadonlySet<string> = new Set(
  memberOperations.filter(({ role }) => role !== null).map(({ id }) => id),
);

const forStrangers: ReadonlySet<string> = new Set(
  memberOperations.filter(({ role, id }) => role === null && id !== 'signIn').map(({ id }) => id),
);

export interface AccessOptions {
  readonly bus: Bus;
  readonly db: Database<AccessTables>;
  readonly instance: string;
  readonly log: Log;
  readonly metrics?: Metrics;
  readonly tracer?: Tracer | undefined;
  readonly keyPrefix: string;
  readonly keyQuota: number;
  readonly portal: PortalSettings;
  /** Copies of each NATS bucket. */
  readonly replicas: number;
  readonly checkIntervalMs?: number;
  readonly now?: () => Date;
  readonly random?: (bytes: number) => Uint8Array;
}
