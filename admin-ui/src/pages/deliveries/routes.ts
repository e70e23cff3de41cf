import { createRoute } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { causesQuery, countsQuery, deliveriesQuery, deliveryQuery } from '../../model/deliveries.ts';
import { lazyPage, load } from '../../model/lazy-page.ts';
import { eventQuery, eventTypesQuery, subscriptionsQuery } from '../../model/queries.ts';
import { pageLink, rootRoute, shellRoute } from '../../model/routes.ts';
import { anyNumber, deliveriesSearch, oneOf, pathIds, searchOf } from '../../model/search.ts';

export const deliveriesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deliveries',
  staticData: pageLink('Webhooks', 'Deliveries', Send, 'viewer', 'log attempts resend'),
  validateSearch: deliveriesSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps: { view, ...search } }) =>
    load(
      ...(view === undefined ? [deliveriesQuery(search), countsQuery(search)] : [causesQuery]),
      subscriptionsQuery,
      eventTypesQuery,
    ),
  component: lazyPage(() => import('./deliveries-page.tsx'), 'DeliveriesPage'),
});

export const deliveryRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deliveries/$event/$subscription/$replay',
  params: pathIds('event', 'subscription', 'replay'),
  validateSearch: searchOf({ attempt: anyNumber, dialog: oneOf(['cancel', 'share']) }),
  loader: ({ params }) => load(deliveryQuery(params), eventQuery(params.event)),
  component: lazyPage(() => import('./delivery-page.tsx'), 'DeliveryPage'),
});

export const sharedRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/shared',
  component: lazyPage(() => import('./shared-page.tsx'), 'SharedPage'),
});
