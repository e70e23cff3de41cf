import {
  type Bucket,
  basePath,
  type ErrorShape,
  type KeyEntry,
  type KeyOperation,
  maxBodyBytes,
  methodNotAllowed,
  missingScope,
  Problem,
  problem,
  renderLimitExceeded,
  renderProblem,
  type ServiceName,
} from '@causeway/proto';
import {
  type Bus,
  type KeyTable,
  type LaneAnswer,
  type LaneClient,
  type Log,
  randomHex,
  type Span,
  type Tracer,
} from '@causeway/runtime';
import { authenticate, stillValid } from './authenticate.ts';
import { invalidHost, pageWithChunks, toProblem } from './failures.ts';
import { writeAnswer } from './http/answer.ts';
import { type Bodies, noBody, type Reading } from './http/body.ts';
import { addressOf } from './http/client-address.ts';
import { type Head, readHead } from './http/head.ts';
import type { HttpRequest, HttpResponse } from './http/uws.ts';
import type { LastUsed } from './keys/last-used.ts';
import type { Limiter, Limits, Verdict } from './limits/limiter.ts';
import { countedIn, type DefaultLimits, type Header, keyLimits, limitHeaders } from './limits/policy.ts';
import { windowName } from './limits/window.ts';
import type { Pages } from './pages.ts';
import { handlePortal } from './portal/exchange.ts';
import type { Portal } from './portal/portal.ts';
import type { Match, Routed } from './routes.ts';
import { endRequest, startRequest, tracedCount } from './tracing.ts';
import type { Traffic } from './traffic.ts';
import type { RequestCounts } from './usage/request-counts.ts';

/** Everything a request meets on its way through the gateway. */
export interface Gateway {
  readonly bus: Bus;
  readonly log: Log;
  readonly table: KeyTable;
  readonly lastUsed: LastUsed;
  readonly limiter: Limiter;
  readonly limits: DefaultLimits;
  readonly lanes: Readonly<Record<ServiceName, LaneClient>>;
  readonly route: (method: string, path: string) => Routed;
  readonly pages: Pages;
  readonly portal: Portal;
  readonly requests: RequestCounts;
  readonly traffic: Traffic;
  readonly bodies: Bodies;
  readonly tracer: Tracer | undefined;
  readonly keyPrefix: string;
  readonly trustedProxies: number;
  /** While true, every answer closes its connection. */
  draining: boolean;
}

/**
 * One request from its head to its answer, in the order of the contract ("Order of checks"):
 * authentication, route, scope, rate limit; body and record are the service's. Whatever must be read from
 * uWebSockets.js is read before the first await.
 */
export const handle = (gateway: Gateway, response: HttpResponse, request: HttpRequest): void => {
  const head = readHead(request);
  if (head.broken) {
    gateway.traffic.broken();
    response.close();
    return;
  }
  if (gateway.portal.takes(head.path)) {
    handlePortal(gateway.portal, response, request, head);
    return;
  }
  const exchange = openExchange(gateway, response, head);
  try {
    if (!head.hasHost) throw invalidHost();
    const page = gateway.pages.find(head.method, head.path);
    if (page) {
      if (head.bodyBytes < 0) throw pageWithChunks();
      exchange.answer(page.status, page.body, page.headers);
      return;
    }
    if (!head.path.startsWith(apiPrefix)) throw problem('not_found');
    const admitted = admit(gateway, exchange);
    const { operation } = admitted.match;
    exchange.identify(admitted.key, operation);
    const reading =
      head.bodyBytes === 0
        ? undefined
        : gateway.bodies.read(response, head.bodyBytes, operation.maxBodyBytes ?? maxBodyBytes);
    if (reading) exchange.reads(reading);
    forward(gateway, exchange, admitted, reading).catch((error: unknown) => exchange.fail(error));
  } catch (error) {
    exchange.fail(error);
  }
};

const apiPrefix = `${basePath}/`;

/** Authentication, route and scope: all that needs no waiting. */
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
 * Counts the request, waits for its body, and passes both on to the service. A request that only reads is
 * passed on while it is being counted, as both take about as long: its answer is thrown away unless the
 * request turns out to be admitted, so the caller sees the same order of checks.
 */
const forward = async (
  gateway: Gateway,
  exchange: Exchange,
  admitted: Admitted,
  incoming: Reading | undefined,
): Promise<void> => {
  const { key, match, bucket, limits } = admitted;
  const { operation } = match;
  let reading: Promise<LaneAnswer> | undefined;
  // Where a limit has been reached, the service is not asked for what will be thrown away.
  const ahead = operation.method === 'GET' && !incoming && !gateway.limiter.likelyRefused(limits);
  const taken = gateway.limiter.take(limits);
  if (ahead) {
    reading = callService(gateway, exchange, admitted, noBody);
    reading.catch(ignore); // It may fail before anybody waits for it.
  }
  const verdict = await tracedCount(gateway.tracer, exchange.span, taken);
  // A revocation that was answered before this moment has been heard here (`services/runtime/key-table/follow.ts`).
  if (!stillValid(admitted, gateway.table))
    throw problem(gateway.table.trusted() ? 'unauthorized' : 'keys_unavailable');
  exchange.counted(bucket, verdict);
  gateway.lastUsed.note(key, Date.now());
  if (!verdict.admitted) return exchange.refuse(verdict);

  const body = incoming ? await incoming.body : noBody;
  if (body instanceof Problem) throw body;
  if (exchange.over()) return; // The client has gone: nobody waits for the work.
  exchange.pass(await (reading ?? callService(gateway, exchange, admitted, body)));
};

const callService = (
  { lanes }: Gateway,
  { requestId, traceparent, address, head }: Exchange,
  { proof, key, match: { operation, params } }: Admitted,
  body: Buffer,
): Promise<LaneAnswer> =>
  lanes[operation.service].request({
    operation: operation.id,
    tenant: key.companyId,
    caller: key.id,
    requestId,
    traceparent,
    budgetMs: operation.deadlineMs,
    params,
    query: head.query,
    body,
    key: { proof, address },
  });

const ignore = (): void => {};

interface Admitted {
  readonly proof: string;
  readonly name: string;
  readonly key: KeyEntry;
  readonly match: Match;
  readonly bucket: Bucket;
  readonly limits: Limits;
}

/** The answering half of a request: exactly one answer, none where the client has gone, one log line. */
interface Exchange {
  readonly head: Head;
  readonly requestId: string;
  readonly traceparent: string;
  readonly span: Span | undefined;
  /** The client's. */
  readonly address: string;
  /** Whether it has been answered or its client has gone. */
  over(): boolean;
  identify(key: KeyEntry, operation: KeyOperation): void;
  /** A body is held for it until it is over. */
  reads(reading: Reading): void;
  counted(bucket: Bucket, verdict: Verdict): void;
  answer(status: number, body: Uint8Array | string | null, headers: Iterable<Header>): void;
  pass(answer: LaneAnswer): void;
  refuse(verdict: Verdict): void;
  fail(error: unknown): void;
}

const openExchange = (gateway: Gateway, response: HttpResponse, head: Head): Exchange => {
  const startedMs = performance.now();
  const requestId = head.requestId || randomHex(12);
  const address = addressOf(response, head, gateway.trustedProxies);
  const { span, traceparent } = startRequest(gateway.tracer, head);
  let operation: KeyOperation | undefined;
  let key: KeyEntry | undefined;
  /** Stays empty for a request that was not counted; every answer to one that was has them (contract, "Rate limits"). */
  let rateLimit: readonly Header[] = [];
  let countedAs: Bucket | undefined;
  let over = false;
  let reading: Reading | undefined;
  let stopSending: (() => void) | undefined;

  gateway.traffic.opened();
  response.onAborted(() => {
    stopSending?.();
    if (over) return;
    over = true;
    reading?.release();
    gateway.traffic.finished(operation?.id, 499, performance.now() - startedMs);
    endSpan(499);
  });
  const endSpan = (status: number): void => {
    if (!span) return;
    const route = operation && basePath + operation.path;
    endRequest(span, { method: head.method, status, route, requestId, company: key?.companyId });
  };

  const shape = (): ErrorShape =>
    operation?.errorShape ??
    (head.path.startsWith(`${apiPrefix}integrations/lookups/`) ? 'lookup' : 'general');

  const answer: Exchange['answer'] = (status, body, headers) => {
    if (over) return;
    over = true;
    reading?.release();
    const all: Header[] = [['X-Request-Id', requestId], ...headers, ...rateLimit];
    stopSending = writeAnswer(
      response,
      { status, body, headers: all },
      {
        head: head.method === 'HEAD',
        after: head.loose ? 'sealed' : head.closes ? 'close' : gateway.draining ? 'drain' : 'open',
        unsent: gateway.traffic.unsent,
      },
    );
    const elapsedMs = performance.now() - startedMs;
    gateway.traffic.finished(operation?.id, status, elapsedMs);
    endSpan(status);
    if (countedAs && key) gateway.requests.note(key, countedAs, status);
    gateway.log.info(
      {
        requestId,
        traceparent,
        address,
        method: head.method,
        operation: operation?.id,
        company: key?.companyId,
        key: key?.id,
        status,
        elapsedMs: Math.round(elapsedMs * 1000) / 1000,
      },
      'request',
    );
  };

  return {
    head,
    requestId,
    traceparent,
    span,
    address,
    over: () => over,
    answer,
    identify: (identified, found) => {
      key = identified;
      operation = found;
    },
    reads: (started) => {
      reading = started;
    },
    counted: (bucket, verdict) => {
      countedAs = bucket;
      rateLimit = limitHeaders(verdict, Date.now());
    },
    pass: ({ status, body, headers }) => {
      const own = body.length > 0 ? answerHeaders : emptyAnswerHeaders;
      const more = headers && Object.entries(headers).filter(([name]) => name !== 'Content-Type');
      answer(status, body, more ? [...own, ...more] : own);
    },
    refuse: ({ name, limit, used, resetSeconds }) => {
      const { status, body, headers } = renderLimitExceeded(shape(), {
        name,
        limit,
        window: windowName,
        resetMs: resetSeconds * 1000,
        nowMs: Date.now(),
        currentUsage: used,
      });
      answer(status, body, [noStore, ...Object.entries(headers)]);
    },
    fail: (error) => {
      const facts = toProblem(error);
      if (facts.code === 'internal_error' && !over)
        gateway.log.error({ error, requestId, traceparent, operation: operation?.id }, 'request failed');
      const { status, body, headers } = renderProblem(shape(), facts, { requestId });
      answer(status, body, [noStore, ...Object.entries(headers)]);
    },
  };
};

const jsonType: Header = ['Content-Type', 'application/json'];
/** Answers hold personal data, and every one is counted: none may come out of a cache. */
const noStore: Header = ['Cache-Control', 'no-store'];
const answerHeaders: readonly Header[] = [jsonType, noStore];
const emptyAnswerHeaders: readonly Header[] = [noStore];
