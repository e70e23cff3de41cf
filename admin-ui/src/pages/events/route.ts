import { createRoute } from '@tanstack/react-router';
import { anyText, lazyPage, oneOf, pathIds, searchOf, shellRoute } from '../../app/routes.tsx';
import { eventQuery } from '../queries.ts';

export const eventsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/events',
  validateSearch: searchOf({
    type: anyText,
    cursor: anyText,
    dialog: oneOf(['send']),
  }),
  component: lazyPage(() => import('./events-page.tsx'), 'EventsPage'),
});

export const eventRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/events/$id',
  params: pathIds('id'),
  loader: ({ context, params }) => void context.queryClient.prefetchQuery(eventQuery(params.id)),
  component: lazyPage(() => import('./event-page.tsx'), 'EventPage'),
});
