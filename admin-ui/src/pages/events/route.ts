import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import * as v from 'valibot';
import { operationQuery } from '../../api/query.ts';
import { pathIds } from '../../app/path-id.ts';
import { shellRoute } from '../../app/shell-route.ts';

const text = v.fallback(v.optional(v.string()), undefined);

export const eventsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/events',
  validateSearch: v.object({
    type: text,
    cursor: text,
    dialog: v.fallback(v.optional(v.picklist(['send'])), undefined),
  }),
  component: lazyRouteComponent(() => import('./EventsPage.tsx'), 'EventsPage'),
});

export const eventQuery = (id: number) => operationQuery('getPortalEvent', { params: { id } });

export const eventRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/events/$id',
  params: pathIds('id'),
  loader: ({ context, params }) => void context.queryClient.prefetchQuery(eventQuery(params.id)),
  component: lazyRouteComponent(() => import('./EventPage.tsx'), 'EventPage'),
});
