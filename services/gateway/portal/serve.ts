import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import {
  type Actor,
  bodyLimitOf,
  type MemberOperation,
  methodNotAllowed,
  networkOf,
  Problem,
  problem,
  type ResolvedSession,
  roleAllows,
  roleRequired,
  tooManyRequests,
} from '@causeway/proto';
import type { LaneAnswer } from '@causeway/runtime';
import { callService, type Exchange } from '../exchange.ts';
import { invalidContentType } from '../failures.ts';
import type { Gateway } from '../gateway.ts';
import { noBody } from '../http/body.ts';
import { type Head, reads } from '../http/head.ts';
import { memberLimits } from '../limits/limiter.ts';
import type { Match } from '../routes.ts';
import { readDevice, readToken } from './answers.ts';
import type { KnownSession } from './sessions.ts';
import { requireSameSite, type Visit } from './visit.ts';

/**
 * The order of checks: path and method, origin (for changes), concurrency, session, the member's rate limit,
 * role. The service checks body and record (README.md). API keys are not accepted.
 */
export const serveMember = async (gateway: Gateway, exchange: Exchange, visit: Visit): Promise<void> => {
  const { head } = exchange;
  const match = find(gateway, head);
  const { operation } = match;
  exchange.identify(operation);
  requireOwnPage(head, visit);
  const token = readToken(visit.head.cookie, visit.client);
  if (operation.role !== null && token === '') throw problem('signed_out');

  // Before taking a place: a client that disconnects while sending its body would keep it.
  const body = (await exchange.read(gateway.bodies, bodyLimitOf(operation))?.body) ?? noBody;
  if (exchange.over) return;
  const { strangers, members } = gateway.bounds;
  const leave = operation.role === null ? strangers.enter(networkOf(exchange.address)) : members.enter(token);
  try {
    if (operation.role === null) return await ask(gateway, exchange, visit, match, null, body);
    // `access` looks the token up itself, so a known member needs no second lookup.
    const knownSession =
      operation.service === 'access' && body instanceof Buffer ? gateway.sessions.known(token) : undefined;
    const session = knownSession ?? (await resolve(gateway, exchange, visit, token));
    if ('factorMissing' in session && session.factorMissing && !operation.beforeFactor)
      throw problem('second_factor_required');
    exchange.calledBy({ companyId: session.companyId, userId: session.user.id });
    await countMember(gateway, session);
    if (!knownSession && !roleAllows(session.user.role, operation.role)) throw roleRequired(operation.role);
    await ask(gateway, exchange, visit, match, { ...session, token }, body);
  } finally {
    leave();
  }
};

/** Changes come from the portal's own pages only, with a body declared as JSON. */
const requireOwnPage = ({ method, bodyBytes }: Head, { head, client }: Visit): void => {
  if (reads(method)) return;
  requireSameSite(head, client);
  if (bodyBytes !== 0 && !/^application\/json\s*(?:;|$)/i.test(head.contentType)) throw invalidContentType();
};

const find = ({ portal }: Gateway, { method, path }: Head): Match<MemberOperation> => {
  const { match, allow } = portal.route(method, path);
  if (!match) throw allow ? methodNotAllowed(allow) : problem('not_found');
  return match;
};

const resolve = async (
  { bounds, sessions }: Gateway,
  exchange: Exchange,
  visit: Visit,
  token: string,
): Promise<ResolvedSession> => {
  const arrived = bounds.arriving.enter(networkOf(exchange.address));
  const passive = isPassive(exchange, visit);
  const session = await sessions.resolve(token, exchange, passive).finally(arrived);
  if (!session) throw problem('signed_out');
  return session;
};

/** A passive request does not extend its session. */
const isPassive = ({ head: { method } }: Exchange, { head }: Visit): boolean => head.passive && reads(method);

type Asker = KnownSession & { readonly token: string; readonly proof?: string };

const ask = async (
  gateway: Gateway,
  exchange: Exchange,
  visit: Visit,
  match: Match<MemberOperation>,
  asker: Asker | null,
  received: Buffer | Problem,
): Promise<void> => {
  if (received instanceof Problem) throw received;
  if (exchange.over) return; // The client has disconnected.
  const caller = {
    tenant: asker?.companyId ?? 0,
    caller: asker?.user.id ?? 0,
    actor: actorOf(exchange, visit, match, asker),
  };
  const answer = await callService(gateway, exchange, match, caller, received);
  if (asker && answer.status === 401) gateway.sessions.forget(asker.token);
  exchange.pass(await compressed(answer, exchange.head, visit.head.acceptEncoding));
};

/** Only `access` gets the session's token; the other services get the identity that it has signed. */
const actorOf = (
  exchange: Exchange,
  visit: Visit,
  match: Match<MemberOperation>,
  asker: Asker | null,
): Actor => {
  const { userAgent, cookie } = visit.head;
  const from = { user: asker?.user ?? null, address: exchange.address, userAgent };
  if (match.operation.service !== 'access') return asker?.proof ? { ...from, proof: asker.proof } : from;
  const device = readDevice(cookie, visit.client);
  const known = device ? { ...from, device } : from;
  return asker ? { ...known, token: asker.token, passive: isPassive(exchange, visit) } : known;
};

/**
 * Counted over all gateways and all of the member's sessions.
 * @throws Problem `too_many_requests`; CountError if it could not be counted.
 */
const countMember = async ({ limiter, limits }: Gateway, { user }: KnownSession): Promise<void> => {
  const { admitted, limit, resetSeconds } = await limiter.take(memberLimits(user.id, limits));
  if (!admitted) throw tooManyRequests(limit, Math.max(1, Math.ceil(resetSeconds - Date.now() / 1000)));
};

/** Less fits one packet anyway. */
const leastBytes = 1400;
/** A longer answer would delay all other requests by more than a millisecond, so a thread of Node's pool compresses it. */
const longestAtOnce = 32 * 1024;
/** More go as they are: the pool has four threads, and the processor other work. */
const maxInThreads = 2;

const options = { level: 1 };
const inThread = promisify(gzip);
let compressing = 0;

/**
 * Compresses what a page reads. Answers to changes stay as they are: only they tell secrets (keys, signing secrets, links,
 * codes), and beside a text that an attacker chooses, the length of a compressed secret would give it away (BREACH).
 * 26 KB of 50 deliveries become 2.8 KB in 33 µs.
 */
export const compressed = async (
  answer: LaneAnswer,
  { method }: Pick<Head, 'method'>,
  acceptEncoding: string,
): Promise<LaneAnswer> => {
  const { length } = answer.body;
  const isWanted =
    reads(method) && length >= leastBytes && /\bgzip\b(?!\s*;\s*q=0(?![.\d]*[1-9]))/.test(acceptEncoding);
  if (!isWanted || (length > longestAtOnce && compressing === maxInThreads)) return answer;
  return {
    ...answer,
    body: length > longestAtOnce ? await compressLong(answer.body) : gzipSync(answer.body, options),
    headers: { ...answer.headers, 'Content-Encoding': 'gzip' },
  };
};

const compressLong = async (body: Buffer): Promise<Buffer> => {
  compressing++;
  try {
    return await inThread(body, options);
  } finally {
    compressing--;
  }
};
