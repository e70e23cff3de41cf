import { hashKeyValue, isAllowedFrom, parseKeyValue } from '@causeway/identity';
import {
  type Bucket,
  basePath,
  bodyLimitOf,
  buckets,
  type CompanyEntry,
  companyAt,
  conditionOf,
  isUsable,
  type KeyEntry,
  type KeyOperation,
  keyEntryName,
  methodNotAllowed,
  missingScope,
  networkNotAllowed,
  Problem,
  problem,
  renderLimitExceeded,
  type WrittenKind,
} from '@causeway/proto';
import type { LaneAnswer } from '@causeway/runtime';
import { type AnswerRules, callService, type Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { noBody, type Reading } from '../http/body.ts';
import {
  countedIn,
  type Header,
  keyLimits,
  type Limits,
  limitHeaders,
  windowName,
} from '../limits/limiter.ts';
import type { Match } from '../routes.ts';

/** In the order of the contract ("Order of checks"). The service checks body and record. */
export const serveKey = (gateway: Gateway, exchange: Exchange): Promise<void> => {
  const { head } = exchange;
  if (!isApiPath(head.path)) throw problem('not_found');
  const companyId = companyOf(gateway, exchange, head.apiKey);
  const admitted = admit(gateway, companyId, exchange);
  const match = admitted?.match ?? gateway.route(head.method, head.path).match;
  const reading = match && exchange.read(gateway.bodies, bodyLimitOf(match.operation));
  if (admitted) return forward(gateway, exchange, admitted, reading);
  return untilTrusted(gateway, () => admit(gateway, companyId, exchange)).then((late) =>
    forward(gateway, exchange, late, reading),
  );
};

/** Whose key it is, for a request that is no operation itself. @throws Problem */
export const authenticate = (gateway: Gateway, exchange: Exchange, apiKey: string): Promise<KeyEntry> => {
  const companyId = companyOf(gateway, exchange, apiKey);
  const find = () => findKey(gateway, companyId, exchange, apiKey);
  const known = find();
  return known ? Promise.resolve(known.key) : untilTrusted(gateway, find).then(({ key }) => key);
};

const companyOf = (gateway: Gateway, exchange: Exchange, apiKey: string): number => {
  const companyId = parseKeyValue(apiKey, gateway.keyPrefix)?.companyId;
  if (companyId === undefined) throw unauthorizedError(gateway, exchange);
  return companyId;
};

const untilTrusted = async <Result>({ table }: Gateway, find: () => Result | undefined): Promise<Result> => {
  const endMs = performance.now() + keysWaitMs;
  while (await table.untilTrustedAgain(endMs - performance.now())) {
    const found = find();
    if (found) return found;
  }
  throw problem('keys_unavailable');
};

const unauthorizedError = ({ traffic }: Gateway, { address }: Exchange): Problem => {
  traffic.refused(address);
  return problem('unauthorized');
};

interface KnownKey {
  /** The hash proves to the services that the caller sent the key. */
  readonly proof: string;
  readonly name: string;
  readonly key: KeyEntry;
}

interface Admitted extends KnownKey {
  readonly match: Match<KeyOperation>;
  /** Null: no limit counts the operation. */
  readonly counted: { readonly bucket: Bucket; readonly limits: Limits } | null;
}

/**
 * Checks in memory, without waiting: a refused key costs two SHA-256 and one map lookup.
 * @returns undefined if the key table is out of date, or receives no updates and so may lack a new key.
 * @throws Problem
 */
const findKey = (
  gateway: Gateway,
  companyId: number,
  exchange: Exchange,
  apiKey: string,
): KnownKey | undefined => {
  const { table } = gateway;
  if (!table.trusted()) return undefined;
  const proof = hashKeyValue(apiKey);
  const name = keyEntryName(proof);
  const key = table.key(name);
  if (!key && !gateway.bus.connected()) return undefined;
  if (key?.companyId === companyId)
    exchange.calledBy({ companyId, keyId: key.id, isPrevious: key.isPrevious });
  if (!isUsable(key, Date.now()) || key.companyId !== companyId) throw unauthorizedError(gateway, exchange);
  requireNetwork(key, exchange);
  return { proof, name, key };
};

/** @throws Problem `network_not_allowed` */
const requireNetwork = ({ networks }: KeyEntry, { address }: Exchange): void => {
  if (networks && !isAllowedFrom(networks, address)) throw networkNotAllowed(address);
};

const admit = (gateway: Gateway, companyId: number, exchange: Exchange): Admitted | undefined => {
  const { head } = exchange;
  const entry = findKey(gateway, companyId, exchange, head.apiKey);
  if (!entry) return undefined;
  const { proof, name, key } = entry;
  const { match, allow } = gateway.route(head.method, head.path);
  if (!match) {
    const methods = gateway.pages.has(head.path) ? 'GET, HEAD' : allow;
    throw methods ? methodNotAllowed(methods) : problem('not_found');
  }
  const { operation } = match;
  exchange.identify(operation, match.params);
  if (operation.scope && !key.scopes.includes(operation.scope)) throw missingScope(operation.scope);
  if (!operation.bucket) return { proof, name, key, match, counted: null };
  const company = companyNow(gateway, companyId);
  const bucket = countedIn(operation.bucket, key, company, gateway.limits);
  return {
    proof,
    name,
    key,
    match,
    counted: { bucket, limits: keyLimits(bucket, key, company, gateway.limits) },
  };
};

const companyNow = ({ table }: Gateway, companyId: number): CompanyEntry | undefined => {
  const company = table.company(companyId);
  return company?.temporary ? companyAt(company, Date.now()) : company;
};

/**
 * A request that only reads is sent to the service while it is being counted, because both take about as
 * long. If it is not admitted, the answer is discarded, so the caller sees the same order of checks.
 */
const forward = async (
  gateway: Gateway,
  exchange: Exchange,
  admitted: Admitted,
  incoming: Reading | undefined,
): Promise<void> => {
  const { name, key, match, counted } = admitted;
  if (!counted) return describeKey(gateway, exchange, admitted, incoming);
  const { bucket, limits } = counted;
  const { limiter } = gateway;
  let early: Promise<LaneAnswer> | undefined;
  // If a limit has been reached, the answer would be discarded, so the service is not asked.
  const ahead = match.operation.method === 'GET' && !incoming && !limiter.likelyRefused(limits);
  const askedMs = performance.now();
  const taken = limiter.take(limits);
  if (ahead) {
    early = ask(gateway, exchange, admitted, noBody);
    early.catch(ignore); // It may fail before it is awaited.
  }
  const verdict = await taken;
  const spentMs = performance.now() - askedMs;
  if (!gateway.table.trusted() || !isUsable(gateway.table.key(name), Date.now()))
    await requireActive(gateway, exchange, name);
  exchange.counted(bucket, limitHeaders(verdict, Date.now(), limits.own.untilMs));
  if (!verdict.admitted) {
    const { name: limitName, limit, used, resetSeconds } = verdict;
    const exceeded = {
      name: limitName,
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
  const { isBatch, waitsFor } = match.operation;
  // The place is kept until the service has answered, also if the client disconnects.
  const leave = isBatch && gateway.bounds.batches.enter(String(key.companyId));
  try {
    const answer = await (early ?? ask(gateway, exchange, admitted, body, { spentMs }));
    exchange.pass(waitsFor ? await untilWritten(gateway, exchange, admitted, waitsFor, answer) : answer);
  } finally {
    if (leave) leave();
  }
};

/** Contract, "Waiting". */
const untilWritten = async (
  gateway: Gateway,
  exchange: Exchange,
  admitted: Admitted,
  kind: WrittenKind,
  first: LaneAnswer,
): Promise<LaneAnswer> => {
  const { key, name } = admitted;
  const { head } = exchange;
  if (head.method !== 'GET' || first.status !== 200 || exchange.over) return first;
  const last = await gateway.held.hold({
    key,
    kind,
    query: head.query,
    first,
    ask: (query) => ask(gateway, exchange, admitted, noBody, { query }),
    beginWaiting: (onGone) => exchange.hold(onGone),
  });
  // It may have been revoked meanwhile.
  await requireActive(gateway, exchange, name);
  return last;
};

/** Every revocation answered before this moment has reached this gateway (`services/identity/key-table.ts`). */
const requireActive = async ({ table }: Gateway, exchange: Exchange, name: string): Promise<void> => {
  if (!table.trusted() && !(await table.untilTrustedAgain(keysWaitMs))) throw problem('keys_unavailable');
  const key = table.key(name);
  if (!isUsable(key, Date.now())) throw problem('unauthorized');
  requireNetwork(key, exchange);
};

/** Answers `getMe`: names from `access`, the use of each limit from the owner of the counts. */
const describeKey = async (
  gateway: Gateway,
  exchange: Exchange,
  admitted: Admitted,
  incoming: Reading | undefined,
): Promise<void> => {
  const { key, name } = admitted;
  const { bounds, limiter, limits: defaults } = gateway;
  // Before taking a place: a client that disconnects while sending its body would keep it.
  const body = incoming ? await incoming.body : noBody;
  if (body instanceof Problem) throw body;
  if (exchange.over) return;
  const leave = bounds.uncounted.enter(String(key.companyId));
  try {
    const company = companyNow(gateway, key.companyId);
    const limits = buckets
      .filter((bucket) => countedIn(bucket, key, company, defaults) === bucket)
      .map((bucket) => keyLimits(bucket, key, company, defaults).own);
    const [names, { used, resetSeconds }] = await Promise.all([
      ask(gateway, exchange, admitted, body),
      limiter.used(limits.map(({ slot }) => slot)),
    ]);
    await requireActive(gateway, exchange, name);
    exchange.counted('');
    if (names.status !== 200) return exchange.pass(names);
    const resetUtc = new Date(resetSeconds * 1000).toISOString();
    const answer = {
      ...JSON.parse(names.body.toString()),
      scopes: key.scopes,
      limits: Object.fromEntries(
        limits.map(({ name, limit, untilMs }, at) => [
          name,
          { limit, used: used[at], resetUtc, ...(untilMs && { untilUtc: new Date(untilMs).toISOString() }) },
        ]),
      ),
    };
    exchange.pass({ ...names, body: Buffer.from(JSON.stringify(answer)) });
  } finally {
    leave();
  }
};

const ask = (
  gateway: Gateway,
  exchange: Exchange,
  { proof, key, match }: Admitted,
  body: Buffer,
  options?: Parameters<typeof callService>[5],
): Promise<LaneAnswer> => {
  const { address } = exchange;
  const caller = {
    tenant: key.companyId,
    caller: key.id,
    key: { proof, address },
    condition: conditionOf(match.operation, exchange.head),
  };
  return callService(gateway, exchange, match, caller, body, options);
};

const ignore = (): void => {};

/** Less than the deadline of any operation. */
const keysWaitMs = 2_000;

const apiPrefix = `${basePath}/`;
export const isApiPath = (path: string): boolean => path.startsWith(apiPrefix);

/** Answers contain personal data, and every request is counted: no cache may store them. */
const noStore: Header = ['Cache-Control', 'no-store'];

export const keyAnswers: AnswerRules = {
  logged: 'request',
  always: [],
  api: [noStore],
  shapeOf: (path) => (path.startsWith(`${apiPrefix}integrations/lookups/`) ? 'lookup' : 'general'),
  translate: (headers) => Object.entries(headers).filter(([name]) => name !== 'Content-Type'),
};
