import { declareMetrics } from '@causeway/runtime';

export const crmMetrics = declareMetrics({
  crm_events_published_total: { type: 'counter', help: 'Events published' },
  crm_events_unpublished_total: {
    type: 'counter',
    help: 'Events left to the sweeper because NATS was unreachable or slow',
  },
  crm_search_waiting: { type: 'gauge', help: 'Clients that wait for the search index' },
});
