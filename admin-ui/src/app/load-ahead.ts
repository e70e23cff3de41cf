import type { QueryClient } from '@tanstack/react-query';
import { countsQuery } from '../pages/deliveries/deliveries.ts';
import {
  firstDeliveryStepsQuery,
  firstStepsQuery,
  statsQuery,
  type UsageRange,
  usageQuery,
} from '../pages/queries.ts';
import { attentionQuery, lastHourQuery } from './attention.ts';

/** For the badges of every page. */
export const loadAttention = (queryClient: QueryClient): void => {
  void queryClient.prefetchQuery(attentionQuery);
  void queryClient.prefetchQuery(lastHourQuery);
};

export const loadOverview = (queryClient: QueryClient, range: UsageRange = '24h'): void => {
  void queryClient.prefetchQuery(firstStepsQuery);
  void queryClient.prefetchQuery(firstDeliveryStepsQuery);
  void queryClient.prefetchQuery(usageQuery(range));
  void queryClient.prefetchQuery(statsQuery(range));
  void queryClient.prefetchQuery(countsQuery({ period: range === '30d' ? undefined : range }));
};
