import type { Cell, Metrics } from '@causeway/runtime';
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
  const requests = metrics.counter('gateway_requests_total', 'Requests answered', ['operation', 'status']);
  const elapsed = metrics.timing('gateway_request_seconds', "From a request's head to its answer");
  const failures = metrics.counter(
    'gateway_authentication_failures_total',
    'Requests refused with 401, by client address',
    ['address'],
  );
  const broken = metrics
    .counter('gateway_broken_framing_total', 'Connections closed for their framing')
    .cell();
  const addresses = new Map<string, Cell>();
  const unsent: Unsent = { answers: 0, thisTurn: 0 };
  metrics.gauge('gateway_answers_unsent', 'Answers that wait for their clients', () => unsent.answers);
  metrics.gauge('gateway_requests_in_flight', 'Requests not yet answered', () => inFlight);

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
