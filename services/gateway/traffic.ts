import type { CounterCell, Metrics } from '@causeway/runtime';
import type { Unsent } from './http/answer.ts';
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
