import { keepPreviousData } from '@tanstack/react-query';
import { operationQuery } from '../../api/query.ts';

export const ranges = ['1h', '24h', '7d', '30d'] as const;
export type Range = (typeof ranges)[number];

const live = { placeholderData: keepPreviousData, refetchInterval: 30_000 };

export const usageQuery = (range: Range) => ({
  ...operationQuery('getUsage', { query: { range } }),
  ...live,
});
export const statsQuery = (range: Range) => ({
  ...operationQuery('getDeliveryStats', { query: { range } }),
  ...live,
});

const steps = { refetchInterval: 15_000 };
export const firstStepsQuery = { ...operationQuery('getFirstSteps', {}), ...steps };
export const firstDeliveryStepsQuery = { ...operationQuery('getFirstDeliverySteps', {}), ...steps };
