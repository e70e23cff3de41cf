import { declareMetrics } from '@causeway/runtime';

export const accessMetrics = declareMetrics({
  access_notices_total: {
    type: 'counter',
    help: 'Messages of notices by channel and outcome of the sending',
    labels: ['channel', 'outcome'],
  },
});
