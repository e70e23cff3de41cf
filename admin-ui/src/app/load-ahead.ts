import type { QueryClient } from '@tanstack/react-query';
import { countsQuery, deliveriesQuery } from '../pages/deliveries/deliveries.ts';
import {
  eventQuery,
  eventsQuery,
  eventTypesQuery,
  firstDeliveryStepsQuery,
  firstStepsQuery,
  personQuery,
  statsQuery,
  subscriptionQuery,
  subscriptionsQuery,
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

/** What filters and forms choose from. */
export const loadTargets = (queryClient: QueryClient): void => {
  void queryClient.prefetchQuery(subscriptionsQuery);
  void queryClient.prefetchQuery(eventTypesQuery);
};

export const loadSubscription = (queryClient: QueryClient, id: number): void => {
  void queryClient.prefetchQuery(subscriptionQuery(id));
  void queryClient.prefetchQuery(deliveriesQuery({ subscription: id }, 8));
};

export const loadEvent = (queryClient: QueryClient, id: number): void => {
  void queryClient.prefetchQuery(eventQuery(id));
  void queryClient.prefetchQuery(deliveriesQuery({ event: id }));
  void queryClient.prefetchQuery(eventTypesQuery);
};

export const loadRecord = (queryClient: QueryClient, id: number): void => {
  void queryClient.prefetchQuery(personQuery(id));
  void queryClient.prefetchQuery(eventsQuery({ client: id }));
};
