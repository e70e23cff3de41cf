import { createRoute } from '@tanstack/react-router';
import { countsQuery, deliveriesQuery } from '../../model/deliveries.ts';
import { lazyPage, load } from '../../model/lazy-page.ts';
import { eventsQuery, personQuery } from '../../model/queries.ts';
import { shellRoute } from '../../model/routes.ts';
import { pathIds } from '../../model/search.ts';

export const recordRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/clients/$id',
  params: pathIds('id'),
  loader: ({ params: { id: client } }) =>
    load(
      personQuery(client),
      eventsQuery({ client }),
      deliveriesQuery({ client }, 20),
      countsQuery({ client }),
    ),
  component: lazyPage(() => import('./record-page.tsx'), 'RecordPage'),
});
