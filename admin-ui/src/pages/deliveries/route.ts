import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import * as v from 'valibot';
import { pathIds } from '../../app/path-id.ts';
import { shellRoute } from '../../app/shell-route.ts';

const text = v.fallback(v.optional(v.string()), undefined);
const number = v.fallback(v.optional(v.number()), undefined);

export const deliveriesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deliveries',
  validateSearch: v.object({
    subscription: number,
    event: number,
    replay: number,
    type: text,
    state: text,
    status: number,
    cause: text,
    since: text,
    until: text,
    cursor: text,
    view: v.fallback(v.optional(v.picklist(['live', 'replays'])), undefined),
    dialog: v.fallback(v.optional(v.picklist(['replay'])), undefined),
  }),
  component: lazyRouteComponent(() => import('./DeliveriesPage.tsx'), 'DeliveriesPage'),
});

export const deliveryRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deliveries/$event/$subscription/$replay',
  params: pathIds('event', 'subscription', 'replay'),
  validateSearch: v.object({ attempt: number }),
  component: lazyRouteComponent(() => import('./DeliveryPage.tsx'), 'DeliveryPage'),
});

export const replayRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/replays/$id',
  params: pathIds('id'),
  component: lazyRouteComponent(() => import('../replays/ReplayPage.tsx'), 'ReplayPage'),
});
