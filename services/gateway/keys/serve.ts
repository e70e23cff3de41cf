import {
  type Bucket,
  bodyLimitOf,
  type KeyEntry,
  type KeyOperation,
  methodNotAllowed,
  missingScope,
  Problem,
  parseIdempotencyKey,
  problem,
  renderLimitExceeded,
  takesIdempotencyKey,
} from '@causeway/proto';
import type { LaneAnswer } from '@causeway/runtime';
import { authenticate, stillValid } from '../authenticate.ts';
import { callService } from '../call-service.ts';
import type { Exchange } from '../exchange.ts';
import { invalidIdempotencyKey } from '../failures.ts';
import type { Gateway } from '../gateway.ts';
import { noBody, type Reading } from '../http/body.ts';
import type { Limits } from '../limits/limiter.ts';
import { countedIn, keyLimits, limitHeaders } from '../limits/policy.ts';
import { windowName } from '../limits/window.ts';
import type { Match } from '../routes.ts';
import { tracedCount } from '../tracing.ts';
import { apiPrefix } from './answers.ts';

/**
 * Serves one request with an API key, in the order of the contract ("Order of checks"): authentication, route, scope,
 * rate limit. The service checks body and record.
 */
export const serveKey = (gateway: Gateway, exchange: Exchange): Promise<void> => {
  if (!exchange.head.path.startsWith(apiPrefix)) throw problem('not_found');
  const admitted = admit(gateway, exchange);
  const { key, match } = admitted;
  exchange.identify(match.operation);
  exchange.calledBy({ company: key.companyId, key: key.id });
  const reading = exchange.read(gateway.bodies, bodyLimitOf(match.operation));
  return forward(gateway, exchange, admitted, reading);
};

/** Checks authentication, route and scope, none of which waits. */
const admit = (gateway: Gateway, { head, address }: Exchange): Admitted => {
  const identity = authenticate(head.apiKey, gateway.keyPrefix, gateway.table, gateway.bus.connected());
  if (identity.outcome === 'undecided') throw problem('keys_unavailable');
  if (identity.outcome === 'refused') {
    gateway.traffic.refused(address);
    throw problem('unauthorized');
  }
  const routed = gateway.route(head.method, head.path);
  if (!routed.match) {
    const allow = gateway.pages.isPage(head.path) ? 'GET, HEAD' : routed.allow;
    throw allow ? methodNotAllowed(allow) : problem('not_found');
  }
  const { operation } = routed.match;
  if (!identity.key.scopes.includes(operation.scope)) throw missingScope(operation.scope);
  const { key } = identity;
  const company = gateway.table.company(key.companyId);
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
  let early: Promise<LaneAnswer> | undefined;
  // If a limit has been reached, the answer would be discarded, so the service is not asked.
  const ahead = match.operation.method === 'GET' && !incoming && !gateway.limiter.likelyRefused(limits);
  const taken = gateway.limiter.take(limits);
  if (ahead) {
    early = ask(gateway, exchange, admitted, noBody);
    early.catch(ignore); // It may fail before it is awaited.
  }
  const verdict = await tracedCount(gateway.tracer, exchange.span, taken);
  // Every revocation answered before this moment has reached this gateway (`services/runtime/key-table/follow.ts`).
  if (!stillValid(admitted, gateway.table))
    throw problem(gateway.table.trusted() ? 'unauthorized' : 'keys_unavailable');
  exchange.counted(limitHeaders(verdict, Date.now()), (status) => gateway.requests.note(key, bucket, status));
  gateway.lastUsed.note(key, Date.now());
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

interface Admitted {
  readonly proof: string;
  readonly name: string;
  readonly key: KeyEntry;
  readonly match: Match<KeyOperation>;
  readonly bucket: Bucket;
  readonly limits: Limits;
}
