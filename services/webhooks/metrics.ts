import { declareMetrics } from '@causeway/runtime';

/** The metrics of webhooks. */
export const webhooksMetrics = declareMetrics({
  webhooks_retention_stale_seconds: {
    type: 'gauge',
    help: 'Time since the last retention run that succeeded',
  },
});
