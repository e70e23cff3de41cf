import { declareMetrics } from '@causeway/runtime';

/** The metrics of webhooks. */
export const webhooksMetrics = declareMetrics({
  webhooks_retention_failed_total: { type: 'counter', help: 'Retention runs that failed' },
});
