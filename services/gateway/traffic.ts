import { type Cell, declareMetrics, type Metrics } from '@causeway/runtime';
import type { Unsent } from './http/answer.ts';

/** The gateway's request metrics. */
export interface Traffic {
  opened(): void;
  /** @param status the answer's, or 499 if the client disconnected before it. */
  finished(operation: string | undefined, status: number, elapsedMs: number): void;
  /** A failed authentication, by client address. */
  refused(address: string): void;
  /** A connection closed for its framing. */
  broken(): void;
  inFlight(): number;
  readonly unsent: Unsent;
}

/** Most addresses named in the metric. Further ones are counted together, so that no attacker can inflate it. */
const maxAddresses = 200;

export const countTraffic = (metrics: Metrics): Traffic => {
  let inFlight = 0;
  const requests = metrics.counter(gatewayMetrics.gateway_requests_total);
  const elapsed = metrics.timing(gatewayMetrics.gateway_request_seconds);
  const failures = metrics.counter(gatewayMetrics.gateway_authentication_failures_total);
  const broken = metrics.counter(gatewayMetrics.gateway_broken_framing_total).cell();
  const addresses = new Map<string, Cell>();
  const unsent: Unsent = { answers: 0, thisTurn: 0 };
  metrics.gauge(gatewayMetrics.gateway_answers_unsent, () => unsent.answers);
  metrics.gauge(gatewayMetrics.gateway_requests_in_flight, () => inFlight);

  return {
    opened: () => {
      inFlight++;
    },
    finished: (operation, status, elapsedMs) => {
      inFlight--;
      requests.cell(operation ?? 'none', String(status)).value++;
      elapsed.observe(elapsedMs);
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

/** The metrics of the gateway. */
export const gatewayMetrics = declareMetrics({
  gateway_answers_unsent: { type: 'gauge', help: 'Answers that wait for their clients' },
  gateway_authentication_failures_total: {
    type: 'counter',
    help: 'Requests refused with 401, by client address',
    labels: ['address'],
  },
  gateway_body_bytes_in_flight: { type: 'gauge', help: 'Bytes held for bodies of requests' },
  gateway_broken_framing_total: {
    type: 'counter',
    help: 'Connections closed because of invalid HTTP framing',
  },
  gateway_portal_tails: { type: 'gauge', help: 'Live tails open' },
  gateway_request_seconds: { type: 'histogram', help: "From a request's head to its answer" },
  gateway_requests_in_flight: { type: 'gauge', help: 'Requests not yet answered' },
  gateway_requests_total: { type: 'counter', help: 'Requests answered', labels: ['operation', 'status'] },
  limit_batches_total: {
    type: 'counter',
    help: 'Batches of counted requests, by outcome; `disconnected` are requests refused at once, without NATS',
    labels: ['outcome'],
  },
  limit_owner: { type: 'gauge', help: 'Whether this process counts the requests of all gateways' },
});
