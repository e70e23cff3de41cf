import { deviceHeader, type ResolvedSession, renderProblem, sessionTokenHeader } from '@causeway/proto';
import { type LaneAnswer, randomHex } from '@causeway/runtime';
import { toProblem } from '../failures.ts';
import { writeAnswer } from '../http/answer.ts';
import type { Reading } from '../http/body.ts';
import type { Head } from '../http/head.ts';
import type { HttpResponse } from '../http/uws.ts';
import type { Header } from '../limits/policy.ts';
import { endRequest, startRequest } from '../tracing.ts';
import type { Client } from './client.ts';
import { deviceCookie, tokenCookie } from './cookie.ts';
import type { PortalHead } from './head.ts';
import type { Portal } from './portal.ts';
import { dataPolicy, securityHeaders } from './security-headers.ts';

/** The answering half: exactly one answer, none where the client has gone, one log line. */
export interface Exchange {
  readonly head: Head;
  readonly portalHead: PortalHead;
  readonly client: Client;
  readonly requestId: string;
  readonly traceparent: string;
  over(): boolean;
  /** @param route the path with its parameters in braces. */
  identify(operation: string, route: string): void;
  signedIn(session: ResolvedSession): void;
  /** A body is held for it until it is over. */
  reads(reading: Reading): void;
  answer(status: number, body: Uint8Array | string | null, headers: Iterable<Header>): void;
  pass(answer: LaneAnswer): void;
  fail(error: unknown): void;
  /** Begins an answer without an end, in the place of one. */
  stream(): HttpResponse;
}

export const openExchange = (
  portal: Portal,
  response: HttpResponse,
  head: Head,
  portalHead: PortalHead,
  client: Client,
): Exchange => {
  const { traffic, log } = portal;
  const startedMs = performance.now();
  const requestId = head.requestId || randomHex(12);
  const { span, traceparent } = startRequest(portal.tracer, head);
  let operation: string | undefined;
  let route: string | undefined;
  let session: ResolvedSession | undefined;
  let over = false;
  let reading: Reading | undefined;
  let stopSending: (() => void) | undefined;

  traffic.opened();
  response.onAborted(() => {
    stopSending?.();
    if (!over) {
      reading?.release();
      traffic.finished(operation, 499, performance.now() - startedMs);
      endSpan(499);
    }
    over = true;
    portal.tails.gone(response);
  });

  const endSpan = (status: number): void => {
    if (span)
      endRequest(span, { method: head.method, status, route, requestId, company: session?.companyId });
  };
  const finish = (status: number): void => {
    over = true;
    reading?.release();
    const elapsedMs = performance.now() - startedMs;
    traffic.finished(operation, status, elapsedMs);
    endSpan(status);
    log.info(
      {
        requestId,
        traceparent,
        address: client.address,
        method: head.method,
        operation: operation ?? 'portalPage',
        company: session?.companyId,
        user: session?.user.id,
        status,
        elapsedMs: Math.round(elapsedMs * 1000) / 1000,
      },
      'portal request',
    );
  };
  const common: readonly Header[] = [['X-Request-Id', requestId], ...securityHeaders(client)];

  const answer: Exchange['answer'] = (status, body, headers) => {
    if (over) return;
    const all = [...common, ...headers];
    stopSending = writeAnswer(
      response,
      { status, body, headers: all },
      {
        head: head.method === 'HEAD',
        after: head.loose ? 'sealed' : head.closes ? 'close' : portal.draining() ? 'drain' : 'open',
        unsent: traffic.unsent,
      },
    );
    finish(status);
  };

  return {
    head,
    portalHead,
    client,
    requestId,
    traceparent,
    over: () => over,
    identify: (found, path) => {
      operation = found;
      route = path;
    },
    signedIn: (found) => {
      session = found;
    },
    reads: (started) => {
      reading = started;
    },
    answer,
    pass: ({ status, body, headers = {} }) => {
      const { [sessionTokenHeader]: token, [deviceHeader]: device, 'Content-Type': _, ...more } = headers;
      answer(status, body, [
        ...dataHeaders,
        ...(body.length > 0 ? [jsonType] : []),
        ...Object.entries(more),
        ...(token === undefined ? [] : [['Set-Cookie', tokenCookie(token, client)] as const]),
        ...(device === undefined ? [] : [['Set-Cookie', deviceCookie(device, client)] as const]),
      ]);
    },
    fail: (error) => {
      const facts = toProblem(error);
      if (facts.code === 'internal_error' && !over)
        log.error({ error, requestId, traceparent, operation }, 'portal request failed');
      const { status, body, headers } = renderProblem('general', facts, { requestId });
      answer(status, body, [...dataHeaders, ...Object.entries(headers)]);
    },
    stream: () => {
      response.cork(() => {
        response.writeStatus('200 OK');
        for (const [name, value] of [...common, ...dataHeaders, ...streamHeaders])
          response.writeHeader(name, value);
      });
      finish(200);
      return response;
    },
  };
};

const jsonType: Header = ['Content-Type', 'application/json'];
const dataHeaders: readonly Header[] = [
  ['Cache-Control', 'no-store'],
  ['Vary', 'Cookie, Origin, Sec-Fetch-Site'],
  dataPolicy,
];
const streamHeaders: readonly Header[] = [
  ['Content-Type', 'text/event-stream'],
  // nginx would hold the lines back.
  ['X-Accel-Buffering', 'no'],
];
