import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pathIds } from '../../app/path-id.ts';
import { oneOf, searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.ts';
import { eventTypesQuery, subscriptionQuery, subscriptionsQuery } from './queries.ts';

const id = pathIds('id');

export const subscriptionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/subscriptions',
  loader: ({ context }) => void context.queryClient.prefetchQuery(subscriptionsQuery),
  component: lazyRouteComponent(() => import('./subscriptions-page.tsx'), 'SubscriptionsPage'),
});

export const newSubscriptionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/subscriptions/new',
  loader: ({ context }) => void context.queryClient.prefetchQuery(eventTypesQuery),
  component: lazyRouteComponent(() => import('./new-subscription-page.tsx'), 'NewSubscriptionPage'),
});

const subscriptionDialogs = ['rotate', 'delete', 'disable', 'repair'] as const;

export const subscriptionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/subscriptions/$id',
  params: id,
  validateSearch: searchOf({ dialog: oneOf(subscriptionDialogs) }),
  loader: ({ context, params }) => void context.queryClient.prefetchQuery(subscriptionQuery(params.id)),
  component: lazyRouteComponent(() => import('./subscription-page.tsx'), 'SubscriptionPage'),
});

export const editSubscriptionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/subscriptions/$id/edit',
  params: id,
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(subscriptionQuery(params.id));
    void context.queryClient.prefetchQuery(eventTypesQuery);
  },
  component: lazyRouteComponent(() => import('./edit-subscription-page.tsx'), 'EditSubscriptionPage'),
});
