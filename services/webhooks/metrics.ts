import { declareMetrics } from '@causeway/runtime';

/** The metrics of webhooks. */
export const webhooksMetrics = declareMetrics({
  webhooks_events_missed_total: {
    type: 'counter',
    help: 'Events that subscriptions missed at the quota of waiting deliveries',
  },
  webhooks_retention_failed_total: { type: 'counter', help: 'Retention runs that failed' },
});
