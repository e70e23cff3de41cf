import {
  type CounterCell,
  childTraceparent,
  type Metrics,
  type Span,
  type Tracer,
  traced,
} from '@causeway/runtime';
import type { Unsent } from './http/answer.ts';
import type { Head } from './http/head.ts';
import { gatewayMetrics } from './metrics.ts';

export interface Traffic {
  opened(): void;
  /** 499 if the client disconnected before the answer. */
  finished(operation: string | undefined, status: number, durationMs: number): void;
  refused(address: string): void;
  broken(): void;
  inFlight(): number;
  readonly unsent: Unsent;
}

/** Further addresses are counted together, so that no attacker can inflate the metric. */
const maxAddresses = 200;

export const countTraffic = (metrics: Metrics): Traffic => {
  let inFlight = 0;
  const requests = metrics.counter(gatewayMetrics.gateway_requests_total);
  const elapsed = metrics.timing(gatewayMetrics.gateway_request_seconds);
  const failures = metrics.counter(gatewayMetrics.gateway_authentication_failures_total);
  const broken = metrics.counter(gatewayMetrics.gateway_broken_framing_total).cell();
  const addresses = new Map<string, CounterCell>();
  const unsent: Unsent = { answers: 0, thisTurn: 0 };
  metrics.gauge(gatewayMetrics.gateway_answers_unsent, () => unsent.answers);
  metrics.gauge(gatewayMetrics.gateway_requests_in_flight, () => inFlight);

  return {
    opened: () => {
      inFlight++;
    },
    finished: (operation, status, durationMs) => {
      inFlight--;
      requests.cell(operation ?? 'none', String(status)).value++;
      elapsed.observe(durationMs);
    },
    refused: (address) => {
      let cell = addresses.get(address);
      if (!cell) {
        cell = failures.cell(addresses.size < maxAddresses ? address : 'other');
        if (addresses.size < maxAddresses) addresses.set(address, cell);
      }
      cell.value++;
    },
    broken: () => {
      broken.value++;
    },
    inFlight: () => inFlight,
    unsent,
  };
};

/**
 * OpenTelemetry's conventions for HTTP servers. Neither path nor query, because people put names, addresses
 * and keys into them.
 */
export const startRequest = (
  tracer: Tracer | undefined,
  { method, traceparent: incoming }: Head,
): { readonly span: Span | undefined; readonly traceparent: string } => {
  const span = tracer?.start(methods.has(method) ? method : 'HTTP', {
    kind: 'server',
    parents: [incoming],
    root: true,
    attributes: { 'http.request.method': methods.has(method) ? method : '_OTHER' },
  });
  // If the gateway does not sample a request, no service does.
  const traceparent = span?.traceparent ?? childTraceparent(incoming, tracer === undefined);
  return { span, traceparent };
};

export interface Outcome {
  readonly method: string;
  /** 499 if the client disconnected before its answer. */
  readonly status: number;
  /** With its parameters in braces; undefined if no route matched. */
  readonly route: string | undefined;
  readonly requestId: string;
  readonly companyId: number | undefined;
}

export const endRequest = (span: Span, { method, status, route, requestId, companyId }: Outcome): void => {
  span.set({
    'http.route': route,
    'causeway.request.id': requestId,
    'causeway.company.id': companyId,
    ...(status !== clientGone && { 'http.response.status_code': status }),
  });
  if (route !== undefined) span.rename(`${method} ${route}`);
  if (status === clientGone) span.fail('client_gone');
  else if (status >= 500) span.fail(String(status));
  span.end();
};

const clientGone = 499;

export const tracedCount = <Verdict>(
  tracer: Tracer | undefined,
  span: Span | undefined,
  counting: Promise<Verdict>,
): Promise<Verdict> =>
  span ? traced(tracer, 'count request', { kind: 'internal', parents: [span] }, () => counting) : counting;

export const methodName = (method: string): string => (methods.has(method) ? method : '_OTHER');

/** The methods of RFC 9110 and RFC 5789. Any other is recorded as `_OTHER`, because callers can invent names. */
const methods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
]);
