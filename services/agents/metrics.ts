import { declareMetrics } from '@causeway/runtime';

export const agentsMetrics = declareMetrics({
  agents_request_seconds: {
    type: 'histogram',
    help: "From a request's head to its answer, the interface's time included",
  },
  agents_requests_total: { type: 'counter', help: 'Requests of agents answered', labels: ['status'] },
  agents_waiting_for_interface: { type: 'gauge', help: 'Tool calls that the interface has not answered yet' },
});
