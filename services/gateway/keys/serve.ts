import { setTimeout as sleep } from 'node:timers/promises';
import { hashKeyValue, type KeyTable, parseKeyValue } from '@causeway/identity';
import {
  type Bucket,
  basePath,
  bodyLimitOf,
  type KeyEntry,
  type KeyOperation,
  keyEntryName,
  methodNotAllowed,
  missingScope,
  Problem,
  parseIdempotencyKey,
  problem,
  renderLimitExceeded,
  takesIdempotencyKey,
} from '@causeway/proto';
import type { LaneAnswer } from '@causeway/runtime';
import type { AnswerRules, Exchange } from '../exchange.ts';
import { callService, invalidIdempotencyKey } from '../failures.ts';
import type { Gateway } from '../gateway.ts';
import { noBody, type Reading } from '../http/body.ts';
import { type Limits, windowName } from '../limits/limiter.ts';
import { countedIn, type Header, keyLimits, limitHeaders } from '../limits/policy.ts';
import type { Match } from '../routes.ts';
import { tracedCount } from '../tracing.ts';

/**
 * Serves one request with an API key, in the order of the contract ("Order of checks"): authentication, route, scope,
 * rate limit. The service checks body and record.
 */
export const serveKey = (gateway: Gateway, exchange: Exchange): Promise<void> => {
  if (!exchange.head.path.startsWith(apiPrefix)) throw problem('not_found');
  const companyId = parseKeyValue(exchange.head.apiKey, gateway.keyPrefix)?.companyId;
  // Text that cannot be a key is refused without a lookup.
  if (companyId === undefined) return refuse(gateway, exchange);
  const admitted = admit(gateway, companyId, exchange);
  if (admitted === 'undecided') return serveLater(gateway, companyId, exchange);
  const reading = exchange.read(gateway.bodies, bodyLimitOf(admitted.match.operation));
  return forward(gateway, exchange, admitted, reading);
};

/** Serves a request that came while the key table catches up after a lost connection. */
const serveLater = async (gateway: Gateway, companyId: number, exchange: Exchange): Promise<void> => {
  const { match } = gateway.route(exchange.head.method, exchange.head.path);
  const reading = match && exchange.read(gateway.bodies, bodyLimitOf(match.operation));
  const endMs = performance.now() + keysWaitMs;
  for (;;) {
    const leftMs = endMs - performance.now();
    await gateway.table.untilTrusted(leftMs);
    const admitted = admit(gateway, companyId, exchange);
    if (admitted !== 'undecided') return forward(gateway, exchange, admitted, reading);
    if (leftMs <= 0) throw problem('keys_unavailable');
    // Disconnected, and the key is unknown: it may be new.
    await sleep(reconnectPollMs);
  }
};

const refuse = ({ traffic }: Gateway, { address }: Exchange): never => {
  traffic.refused(address);
  throw problem('unauthorized');
};

/** Checks authentication, route and scope, none of which waits. */
const admit = (gateway: Gateway, companyId: number, exchange: Exchange): Admitted | 'undecided' => {
  const { head } = exchange;
  const { table } = gateway;
  const identity = authenticate(head.apiKey, companyId, table, gateway.bus.connected());
  if (identity.outcome === 'undecided') return 'undecided';
  if (identity.outcome === 'refused') return refuse(gateway, exchange);
  const routed = gateway.route(head.method, head.path);
  if (!routed.match) {
    const allow = gateway.pages.isPage(head.path) ? 'GET, HEAD' : routed.allow;
    throw allow ? methodNotAllowed(allow) : problem('not_found');
  }
  const { operation } = routed.match;
  if (!identity.key.scopes.includes(operation.scope)) throw missingScope(operation.scope);
  const { key } = identity;
  exchange.identify(operation);
  exchange.calledBy({ company: companyId, key: key.id });
  const company = table.company(companyId);
  const bucket = countedIn(operation.bucket, key, company, gateway.limits);
  const limits = keyLimits(bucket, key, company, gateway.limits);
  return { ...identity, match: routed.match, bucket, limits };
};

/**
 * Counts the request, waits for its body, and sends it to the service. A request that only reads is sent while it is
 * being counted, because both take about as long. If it is not admitted, the service's answer is discarded, so the
 * caller sees the same order of checks.
 */
const forward = async (
  gateway: Gateway,
  exchange: Exchange,
  admitted: Admitted,
  incoming: Reading | undefined,
): Promise<void> => {
  const { key, match, bucket, limits } = admitted;
  const { limiter, table } = gateway;
  let early: Promise<LaneAnswer> | undefined;
  // If a limit has been reached, the answer would be discarded, so the service is not asked.
  const ahead = match.operation.method === 'GET' && !incoming && !limiter.likelyRefused(limits);
  const taken = limiter.take(limits);
  if (ahead) {
    early = ask(gateway, exchange, admitted, noBody);
    early.catch(ignore); // It may fail before it is awaited.
  }
  const verdict = await tracedCount(gateway.tracer, exchange.span, taken);
  // Every revocation answered before this moment has reached this gateway (`services/identity/key-table.ts`).
  if (!stillValid(admitted, table)) {
    if (!(await table.untilTrusted(keysWaitMs))) throw problem('keys_unavailable');
    if (!stillValid(admitted, table)) throw problem('unauthorized');
  }
  exchange.counted(limitHeaders(verdict, Date.now()), (status) => gateway.uses.answered(key, bucket, status));
  gateway.uses.used(key, Date.now());
  if (!verdict.admitted) {
    const { name, limit, used, resetSeconds } = verdict;
    const exceeded = {
      name,
      limit,
      window: windowName,
      resetMs: resetSeconds * 1000,
      nowMs: Date.now(),
      currentUsage: used,
    };
    return exchange.refuse(renderLimitExceeded(match.operation.errorShape, exceeded));
  }

  const body = incoming ? await incoming.body : noBody;
  if (body instanceof Problem) throw body;
  if (exchange.over) return; // The client has disconnected.
  exchange.pass(await (early ?? ask(gateway, exchange, admitted, body)));
};

const ask = (
  gateway: Gateway,
  exchange: Exchange,
  { proof, key, match }: Admitted,
  body: Buffer,
): Promise<LaneAnswer> => {
  const { address } = exchange;
  const caller = {
    tenant: key.companyId,
    caller: key.id,
    key: { proof, address },
    ...idempotencyKeyOf(exchange, match.operation),
  };
  return callService(gateway, exchange, match, caller, body);
};

/** Other operations ignore the header. @throws Problem if it is malformed. */
const idempotencyKeyOf = (
  { head }: Exchange,
  operation: KeyOperation,
): { readonly idempotencyKey?: string } => {
  if (head.idempotencyKey === undefined || !takesIdempotencyKey(operation)) return {};
  const idempotencyKey = parseIdempotencyKey(head.idempotencyKey);
  if (idempotencyKey === undefined) throw invalidIdempotencyKey();
  return { idempotencyKey };
};

const ignore = (): void => {};

/** How long a request waits for a key table that catches up: less than the deadline of any operation. */
const keysWaitMs = 2_000;
const reconnectPollMs = 5;

interface Admitted {
  readonly proof: string;
  readonly name: string;
  readonly key: KeyEntry;
  readonly match: Match<KeyOperation>;
  readonly bucket: Bucket;
  readonly limits: Limits;
}

const apiPrefix = `${basePath}/`;

/** Answers contain personal data, and every request is counted: no cache may store them. */
const noStore: Header = ['Cache-Control', 'no-store'];

/** The properties of all answers of the integration interface. */
export const keyAnswers: AnswerRules = {
  logged: 'request',
  always: [],
  api: [noStore],
  shapeOf: (path) => (path.startsWith(`${apiPrefix}integrations/lookups/`) ? 'lookup' : 'general'),
  translate: (headers) => Object.entries(headers).filter(([name]) => name !== 'Content-Type'),
};

/** The caller, as far as the gateway can tell. */
type Identity =
  | {
      readonly outcome: 'known';
      /** The key's hash, which proves to the services that the caller sent the key. */
      readonly proof: string;
      /** Of its entry. */
      readonly name: string;
      readonly key: KeyEntry;
    }
  | { readonly outcome: 'refused' }
  /** The key is unknown, but the copy of the key table may be out of date. */
  | { readonly outcome: 'undecided' };

const refused: Identity = { outcome: 'refused' };
const undecided: Identity = { outcome: 'undecided' };

/**
 * Authenticates a key from memory. A refusal costs two SHA-256 and one map lookup.
 * @param companyId as the key names it.
 * @param fresh false while the key table receives no updates: an unknown key may then be new.
 */
const authenticate = (apiKey: string, companyId: number, table: KeyTable, fresh: boolean): Identity => {
  if (!table.trusted()) return undecided;
  const proof = hashKeyValue(apiKey);
  const name = keyEntryName(proof);
  const key = table.key(name);
  if (key === undefined) return fresh ? refused : undecided;
  return key.active && key.companyId === companyId ? { outcome: 'known', proof, name, key } : refused;
};

/** Whether a key is still known: it may have been revoked while its request was counted. */
const stillValid = (identity: { readonly name: string }, table: KeyTable): boolean =>
  table.trusted() && table.key(identity.name)?.active === true;
