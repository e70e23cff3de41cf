import { createRoute } from '@tanstack/react-router';
import { anyNumber, anyText, lazyPage, oneOf, pathIds, searchOf, shellRoute } from '../../app/routes.tsx';
import { eventTypesQuery, subscriptionQuery, subscriptionsQuery } from '../queries.ts';
import { subscriptionFilters, subscriptionSorts } from './list-subscriptions.ts';

const id = pathIds('id');

export const subscriptionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/subscriptions',
  validateSearch: searchOf({
    q: anyText,
    state: oneOf(subscriptionFilters),
    sort: oneOf(subscriptionSorts),
    page: anyNumber,
  }),
  loader: ({ context }) => void context.queryClient.prefetchQuery(subscriptionsQuery),
  component: lazyPage(() => import('./subscriptions-page.tsx'), 'SubscriptionsPage'),
});

export const newSubscriptionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/subscriptions/new',
  loader: ({ context }) => void context.queryClient.prefetchQuery(eventTypesQuery),
  component: lazyPage(() => import('./new-subscription-page.tsx'), 'NewSubscriptionPage'),
});

const subscriptionDialogs = ['rotate', 'delete', 'disable', 'repair'] as const;

export const subscriptionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/subscriptions/$id',
  params: id,
  validateSearch: searchOf({ dialog: oneOf(subscriptionDialogs) }),
  loader: ({ context, params }) => void context.queryClient.prefetchQuery(subscriptionQuery(params.id)),
  component: lazyPage(() => import('./subscription-page.tsx'), 'SubscriptionPage'),
});

export const editSubscriptionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/subscriptions/$id/edit',
  params: id,
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(subscriptionQuery(params.id));
    void context.queryClient.prefetchQuery(eventTypesQuery);
  },
  component: lazyPage(() => import('./edit-subscription-page.tsx'), 'EditSubscriptionPage'),
});
