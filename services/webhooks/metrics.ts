import { declareMetrics } from '@causeway/runtime';

/** The metrics of webhooks. */
export const webhooksMetrics = declareMetrics({
  webhooks_deliveries_made_total: { type: 'counter', help: 'Deliveries made of events' },
  webhooks_events_fanned_out_total: { type: 'counter', help: 'Events turned into deliveries' },
  webhooks_events_missed_total: {
    type: 'counter',
    help: 'Events that subscriptions missed at the quota of waiting deliveries',
  },
  webhooks_events_swept_total: {
    type: 'counter',
    help: 'Events that the stream did not deliver and the sweeper found',
  },
  webhooks_fan_out_batches_total: {
    type: 'counter',
    help: 'Transactions that turned events into deliveries',
  },
  webhooks_outbox_oldest_seconds: { type: 'gauge', help: 'Age of the oldest event that is not fanned out' },
  webhooks_retention_failed_total: { type: 'counter', help: 'Retention runs that failed' },
  webhooks_wakes_failed_total: {
    type: 'counter',
    help: 'Wake-up messages that the stream did not acknowledge',
  },
});
