import { declareMetrics } from '@causeway/runtime';

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
  gateway_request_seconds: {
    type: 'histogram',
    help: "From a request's head to its answer, without the time it was held",
  },
  gateway_requests_held: { type: 'gauge', help: 'Requests with `wait` that have nothing to read yet' },
  gateway_requests_in_flight: { type: 'gauge', help: 'Requests not yet answered' },
  gateway_request_log_dropped_total: {
    type: 'counter',
    help: 'Kinds of requests that the request log had no room for',
  },
  gateway_requests_total: { type: 'counter', help: 'Requests answered', labels: ['operation', 'status'] },
  limit_batches_total: {
    type: 'counter',
    help: 'Batches of counted requests, by outcome; `disconnected` are requests refused at once, without NATS',
    labels: ['outcome'],
  },
  limit_owner: { type: 'gauge', help: 'Whether this process counts the requests of all gateways' },
});
