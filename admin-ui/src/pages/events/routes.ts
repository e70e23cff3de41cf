import { createRoute } from '@tanstack/react-router';
import { CalendarDays } from 'lucide-react';
import { deliveriesQuery } from '../../model/deliveries.ts';
import { lazyPage, load } from '../../model/lazy-page.ts';
import { eventQuery, eventsQuery, eventTypesQuery } from '../../model/queries.ts';
import { pageLink, shellRoute } from '../../model/routes.ts';
import { eventsSearch, pathIds } from '../../model/search.ts';

export const eventsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/events',
  staticData: pageLink('Webhooks', 'Events', CalendarDays, 'viewer', 'payloads'),
  validateSearch: eventsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => load(eventsQuery(deps), eventTypesQuery),
  component: lazyPage(() => import('./events-page.tsx'), 'EventsPage'),
});

export const eventRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/events/$id',
  params: pathIds('id'),
  loader: ({ params: { id } }) => load(eventQuery(id), deliveriesQuery({ event: id }), eventTypesQuery),
  component: lazyPage(() => import('./event-page.tsx'), 'EventPage'),
});
