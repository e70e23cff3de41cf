import { createRoute } from '@tanstack/react-router';
import { Webhook } from 'lucide-react';
import { deliveriesQuery } from '../../model/deliveries.ts';
import { incidentsQuery } from '../../model/incidents.tsx';
import { lazyPage, load } from '../../model/lazy-page.ts';
import {
  eventTypesQuery,
  replaysQuery,
  subscriptionQuery,
  subscriptionsQuery,
  teamQuery,
} from '../../model/queries.ts';
import { pageLink, shellRoute } from '../../model/routes.ts';
import { anyNumber, anyText, oneOf, pathIds, searchOf } from '../../model/search.ts';
import { subscriptionFilters, subscriptionSorts } from '../../model/subscriptions.ts';

export const subscriptionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/subscriptions',
  staticData: pageLink('Webhooks', 'Subscriptions', Webhook, 'viewer', 'webhooks endpoints urls'),
  validateSearch: searchOf({
    q: anyText,
    state: oneOf(subscriptionFilters),
    sort: oneOf(subscriptionSorts),
    page: anyNumber,
    dialog: oneOf(['catch-up']),
  }),
  loader: () => load(subscriptionsQuery),
  component: lazyPage(() => import('./subscriptions-page.tsx'), 'SubscriptionsPage'),
});

export const newSubscriptionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/subscriptions/new',
  loader: () => load(subscriptionsQuery, eventTypesQuery),
  component: lazyPage(() => import('./edit-subscription-pages.tsx'), 'NewSubscriptionPage'),
});

export const subscriptionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/subscriptions/$id',
  params: pathIds('id'),
  validateSearch: searchOf({
    dialog: oneOf(['test', 'rotate', 'delete', 'disable', 'discard', 'again']),
    cause: anyText,
    status: anyNumber,
    since: anyText,
  }),
  loader: ({ context, params: { id } }) =>
    load(
      subscriptionQuery(id),
      deliveriesQuery({ subscription: id }, 8),
      replaysQuery(id),
      incidentsQuery(id),
      context.may('developer') && teamQuery,
    ),
  component: lazyPage(() => import('./subscription-page.tsx'), 'SubscriptionPage'),
});

export const editSubscriptionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/subscriptions/$id/edit',
  params: pathIds('id'),
  loader: ({ params }) => load(subscriptionQuery(params.id), eventTypesQuery),
  component: lazyPage(() => import('./edit-subscription-pages.tsx'), 'EditSubscriptionPage'),
});
