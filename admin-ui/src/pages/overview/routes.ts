import { createRoute } from '@tanstack/react-router';
import { LayoutDashboard } from 'lucide-react';
import { attentionQuery, lastHourQuery } from '../../model/attention.ts';
import { countsQuery } from '../../model/deliveries.ts';
import { incidentsQuery } from '../../model/incidents.tsx';
import { lazyPage, load } from '../../model/lazy-page.ts';
import {
  firstDeliveryStepsQuery,
  firstStepsQuery,
  ranges,
  statsQuery,
  subscriptionsQuery,
  usageQuery,
} from '../../model/queries.ts';
import { pageLink, shellRoute } from '../../model/routes.ts';
import { oneOf, searchOf } from '../../model/search.ts';

const overviewSearch = searchOf({ range: oneOf(ranges), dialog: oneOf(['key']) });

export const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  staticData: pageLink(undefined, 'Overview', LayoutDashboard, 'viewer', 'home dashboard usage limits'),
  validateSearch: overviewSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps: { range = '24h' } }) =>
    load(
      attentionQuery,
      lastHourQuery,
      incidentsQuery(),
      subscriptionsQuery,
      firstStepsQuery,
      firstDeliveryStepsQuery,
      usageQuery(range),
      statsQuery(range),
      countsQuery({}),
      countsQuery({ period: range === '30d' ? undefined : range }),
    ),
  component: lazyPage(() => import('./overview-page.tsx'), 'OverviewPage'),
});
