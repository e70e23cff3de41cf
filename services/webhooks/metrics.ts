import { declareMetrics } from '@causeway/runtime';

export const webhooksMetrics = declareMetrics({
  webhooks_retention_stale_seconds: {
    type: 'gauge',
    help: 'Time since the last retention run that succeeded',
  },
});
