import { randomBytes } from 'node:crypto';
import { createSessionSigner } from '@causeway/identity';
import { bySystem, Problem, resolveSessionOperation } from '@causeway/proto';
import {
  type Answer,
  acrossTenants,
  behindOwnGate,
  createCursors,
  createGate,
  createOnce,
  each,
  eachAlone,
  type Handler,
  type KeyRing,
  type LaneHandler,
  noMetrics,
  openGate,
  type Repeated,
  repeat,
  type ServiceOptions,
  sealedWithRing,
  serveOperations,
} from '@causeway/runtime';
import { startCleanup } from './cleanup.ts';
import { startEmptyingAccess } from './closing.ts';
import type { Access, PortalSettings } from './context.ts';
import { handlers } from './handlers.ts';
import { startKeyTable } from './key-table/key-table.ts';
import { revokeEverywhere } from './keys/keys.ts';
import { endGraces } from './keys/rotate-key.ts';
import { createMail, type MailSettings } from './notices/mail.ts';
import { startNotices } from './notices/start.ts';
import { createHasher } from './passwords/hasher.ts';
import type { AccessTables } from './schema.ts';
import { createRefusals } from './sessions/refusals.ts';
import { createReserve } from './sessions/reserve.ts';
import { createDevices } from './sessions/subjects.ts';
import { createTokenSigner, derivedKeys } from './sessions/token.ts';
import { byToken, resolveSession } from './sessions/use-session.ts';
import { recordRequests } from './usage/reports.ts';
import { startRequestLogRetention } from './usage/request-log.ts';

interface AccessService {
  ready(): boolean;
  drain(): Promise<void>;
}

export const createAccess = async (options: AccessOptions): Promise<AccessService> => {
  const { bus, db, log, metrics = noMetrics, now = () => new Date(), random = randomBytes } = options;
  const sessionProofs = createSessionSigner(options.portal.keyRing);
  const table = await startKeyTable({ ...options, now, signers: sessionProofs.entries });
  const { gatherMs = defaultGatherMs } = options;
  const requests = recordRequests({ bus, db, log, metrics, now, gatherMs });
  const logRetention = startRequestLogRetention({ db, log, metrics, now });
  const { keyPrefix, keyQuota, portal, mail: mailSettings = null } = options;
  const passwords = createHasher();
  const cleanup = startCleanup({ db, log, metrics, now, portal });
  const emptying = startEmptyingAccess({ db, log, now });
  const notices = startNotices({
    ...{ bus, db, log, metrics, now },
    keyRing: portal.keyRing,
    limits: portal.limits,
    mail: mailSettings && createMail(mailSettings),
    gatherMs,
  });
  const access: Access = {
    bus,
    db,
    once: createOnce({ db, now, seal: sealedWithRing(portal.keyRing) }),
    table,
    log,
    keyPrefix,
    keyQuota,
    portal,
    mailsFrom: mailSettings?.from ?? null,
    passwords,
    refusals: createRefusals(),
    gates: {
      // Few wait, so that a sign-in takes its turn soon or goes to the reserve.
      strangers: createGate({ atOnce: 1, maxPerKey: 8, maxWaiting: 16 }),
      passkeys: createGate(openGate),
      members: createGate({ atOnce: 2, maxPerKey: 2, maxWaiting: 64 }),
    },
    reserve: createReserve({ db, now }),
    sessionTokens: createTokenSigner(portal.keyRing, 'session tokens'),
    challenges: createTokenSigner(portal.keyRing, 'passkey challenges'),
    sessionProofs,
    cursors: openCursors(portal.keyRing),
    devices: createDevices({ signer: createTokenSigner(portal.keyRing, 'devices'), now, random }),
    now,
    random,
  };
  const expiry = startExpiry(access);
  const ready = (): boolean => table.ready() && db.isUp();
  const lanes = await serveOperations({
    ...options,
    service: 'access',
    handlers,
    context: access,
    once: access.once,
    well: ready,
    guard: guardOf(access),
    gatewayHandlers: { [resolveSessionOperation]: resolveSession(access) },
  });
  return {
    ready,
    drain: async () => {
      await lanes.drain();
      await passwords.close();
      await notices.stop();
      await cleanup.stop();
      await emptying.stop();
      await expiry.stop();
      await requests.drain();
      await logRetention.stop();
      await table.stop();
    },
  };
};

export interface AccessOptions extends ServiceOptions<AccessTables> {
  readonly keyPrefix: string;
  readonly keyQuota: number;
  readonly portal: PortalSettings;
  readonly mail?: MailSettings | null;
  /** How long notices wait for others of their kind, to go in one message, and counts of requests, to be written together. */
  readonly gatherMs?: number;
  readonly replicas: number;
  /** See `ensureLimitStreams`; none: a single NATS server. */
  readonly limitLogServers?: readonly string[];
  readonly checkIntervalMs?: number;
  readonly random?: (bytes: number) => Uint8Array;
}

const defaultGatherMs = 10_000;

const openCursors = (keyRing: KeyRing): Access['cursors'] => {
  const keys = derivedKeys(keyRing, 'cursors');
  return createCursors({ audit: 1, keys: 1, 'keys by use': 2, notices: 2, requests: 2 }, async () => keys);
};

const guardOf =
  (access: Access) =>
  ({ operation, answer }: Handler): LaneHandler => {
    if (operation.audience === 'operator') return logCalls(access, answer);
    // Its handler finds the key by the proof.
    if (operation.audience === 'key') return answer;
    if (operation.role !== null) return byToken(access, operation, answer);
    return signIns.has(operation.id) ? answer : behindOwnGate(answer);
  };

/** Known devices enter another gate than strangers. */
const signIns: ReadonlySet<string> = new Set(['signIn', 'signInWithPasskey']);

/** Logs how each call of an operator ended: they are few, and are asked about later. */
const logCalls = ({ log }: Pick<Access, 'log'>, handler: LaneHandler): LaneHandler =>
  each(async (call) => {
    const { operation, requestId } = call;
    const startedMs = performance.now();
    const ended = (outcome: object) =>
      log.info(
        { operation, requestId, ...outcome, durationMs: Math.round(performance.now() - startedMs) },
        'operator call',
      );
    try {
      const answer = await handler([call])[0]!;
      ended({ outcome: 'done', ...idsOf(answer) });
      return answer;
    } catch (error) {
      ended({ outcome: error instanceof Problem ? error.code : 'internal_error' });
      throw error;
    }
  });

/** Which records a line is about: never a name, a value or an address. */
const idsOf = ({ body }: Answer) => {
  const { company_id: companyId, id } = JSON.parse(String(body)) as { company_id?: number; id?: number };
  return { ...(companyId !== undefined && { companyId }), ...(id !== undefined && { id }) };
};

/** Revokes the keys that have expired, and ends the graces that are over, as a member would. Replicas may run it at once. */
const startExpiry = (access: Access): Repeated =>
  repeat(() => revokeExpired(access), {
    pauseMs: expiryPauseMs,
    onError: (error) => access.log.warn({ error }, 'revoking expired keys failed'),
  });

/** Gateways refuse an expired key by themselves. */
const expiryPauseMs = 15_000;

const revokeExpired = async (access: Access): Promise<number> => {
  const rows = await acrossTenants(access.db, 'expired keys of all companies are looked for')
    .selectFrom('api_keys')
    .select(['company_id', 'id'])
    .where('expires_utc', '<=', access.now())
    .where('is_active', '=', 1)
    .limit(100)
    .execute();
  const ended = await endGraces(access);
  await eachAlone(rows, ({ company_id: companyId, id }) =>
    revokeEverywhere(access, { companyId, id, by: bySystem }),
  );
  return rows.length + ended;
};
