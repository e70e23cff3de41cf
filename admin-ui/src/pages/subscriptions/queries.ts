import { operationQuery } from '../../api/query.ts';

export const subscriptionsQuery = operationQuery('listPortalSubscriptions', {});

export const subscriptionQuery = (id: number) => operationQuery('getPortalSubscription', { params: { id } });

export const eventTypesQuery = { ...operationQuery('listEventTypes', {}), staleTime: 3_600_000 };
