import {
  type Actor,
  deliveryTailPath,
  type MemberOperation,
  methodNotAllowed,
  networkOf,
  Problem,
  portalBasePath,
  portalBodyBytes,
  problem,
  type ResolvedSession,
  roleAllows,
  roleRequired,
} from '@causeway/proto';
import type { LaneAnswer } from '@causeway/runtime';
import { invalidContentType, invalidHost, pageWithChunks } from '../failures.ts';
import { noBody } from '../http/body.ts';
import { addressOf } from '../http/client-address.ts';
import type { Head } from '../http/head.ts';
import type { HttpRequest, HttpResponse } from '../http/uws.ts';
import type { Match } from '../routes.ts';
import { type Exchange, openExchange } from './answering.ts';
import { clientOf } from './client.ts';
import { readDevice, readToken } from './cookie.ts';
import { readPortalHead } from './head.ts';
import { countMember } from './member-limit.ts';
import type { Portal } from './portal.ts';
import { requireSameSite } from './same-site.ts';

/**
 * One request of the portal. The order of checks: path and method, where it came from (for what changes
 * something), how many are under way, session, the member's rate limit, role; body and record are the service's. An API key is never
 * looked at here.
 */
export const handlePortal = (
  portal: Portal,
  response: HttpResponse,
  request: HttpRequest,
  head: Head,
): void => {
  const portalHead = readPortalHead(request);
  const address = addressOf(response, head, portal.trustedProxies);
  const client = clientOf(portalHead, address, portal.trustedProxies);
  const exchange = openExchange(portal, response, head, portalHead, client);
  if (!head.hasHost) exchange.fail(invalidHost());
  else if (head.path.startsWith(`${portalBasePath}/`)) serve(portal, exchange, response).catch(exchange.fail);
  else servePage(portal, exchange);
};

const servePage = ({ files }: Portal, { head, portalHead, answer, fail }: Exchange): void => {
  if (head.method !== 'GET' && head.method !== 'HEAD') {
    fail(methodNotAllowed('GET, HEAD'));
    return;
  }
  if (head.bodyBytes < 0) {
    fail(pageWithChunks());
    return;
  }
  const { status, body, headers } = files.answer(head.path.slice('/portal'.length), portalHead);
  answer(status, body, headers);
};

const serve = async (portal: Portal, exchange: Exchange, response: HttpResponse): Promise<void> => {
  const { head, portalHead, client } = exchange;
  const isTail = head.path === tailPath && head.method === 'GET';
  const routed = isTail ? undefined : portal.route(head.method, head.path);
  if (routed && !routed.match) throw routed.allow ? methodNotAllowed(routed.allow) : problem('not_found');
  const operation = routed?.match?.operation;
  exchange.identify(
    operation?.id ?? 'tailDeliveries',
    operation ? portalBasePath + operation.path : tailPath,
  );
  if (head.method !== 'GET' && head.method !== 'HEAD') {
    requireSameSite(portalHead, client);
    if (head.bodyBytes !== 0 && !/^application\/json\s*(?:;|$)/i.test(portalHead.contentType))
      throw invalidContentType();
  }
  const token = readToken(portalHead.cookie, client);
  if (operation?.role !== null && token === '') throw problem('signed_out');

  // Before a place is taken: a client that goes away amid its body would keep it.
  const received = head.bodyBytes === 0 ? noBody : await readBody(portal, exchange, response, operation);
  if (exchange.over()) return;
  const { strangers, members } = portal.bounds;
  const leave = operation?.role === null ? strangers.enter(networkOf(client.address)) : members.enter(token);
  try {
    const session = operation?.role === null ? null : await resolve(portal, exchange, token, isTail);
    if (session) {
      exchange.signedIn(session);
      await countMember(portal, session);
    }
    if (!routed?.match) return openTail(portal, exchange, token, session!);
    const { match } = routed;
    if (session && match.operation.role && !roleAllows(session.user.role, match.operation.role))
      throw roleRequired(match.operation.role);
    if (received instanceof Problem) throw received;
    if (exchange.over()) return; // The client has gone: nobody waits for the work.
    exchange.pass(await callService(portal, exchange, match, session && { ...session, token }, received));
  } finally {
    leave();
  }
};

const readBody = (
  { bodies }: Portal,
  exchange: Exchange,
  response: HttpResponse,
  operation: MemberOperation | undefined,
): Promise<Buffer | Problem> => {
  const reading = bodies.read(response, exchange.head.bodyBytes, operation?.maxBodyBytes ?? portalBodyBytes);
  exchange.reads(reading);
  return reading.body;
};

const tailPath = portalBasePath + deliveryTailPath;

/** A tail comes back by itself whenever it was broken off, so opening one is nobody's doing either. */
const resolve = async (
  portal: Portal,
  exchange: Exchange,
  token: string,
  isTail: boolean,
): Promise<ResolvedSession> => {
  const { head, portalHead, client } = exchange;
  const passive = isTail || (portalHead.passive && (head.method === 'GET' || head.method === 'HEAD'));
  const arrived = portal.bounds.arriving.enter(networkOf(client.address));
  const session = await portal.resolve(token, exchange, passive).finally(arrived);
  if (!session) throw problem('signed_out');
  return session;
};

const openTail = (portal: Portal, exchange: Exchange, token: string, session: ResolvedSession): void => {
  if (exchange.over()) return;
  portal.tails.requireRoom(session);
  portal.tails.open(exchange.stream(), session, async () => {
    const found = await portal.resolve(token, exchange, true);
    return found !== null;
  });
};

const callService = (
  { lanes }: Portal,
  { requestId, traceparent, head, portalHead, client }: Exchange,
  { operation, params }: Match<MemberOperation>,
  session: (ResolvedSession & { readonly token: string }) | null,
  body: Buffer,
): Promise<LaneAnswer> => {
  const user = session?.user ?? null;
  const { address } = client;
  const { userAgent } = portalHead;
  // No other service is told what opens a session.
  const toAccess = operation.service === 'access';
  const shown = session && (toAccess ? { token: session.token } : { proof: session.proof });
  const device = !session && toAccess ? readDevice(portalHead.cookie, client) : '';
  const actor: Actor = { user, address, userAgent, ...shown, ...(device && { device }) };
  return lanes[operation.service].request({
    operation: operation.id,
    tenant: session?.companyId ?? 0,
    caller: user?.id ?? 0,
    requestId,
    traceparent,
    budgetMs: operation.deadlineMs,
    params,
    query: head.query,
    body,
    actor,
  });
};
