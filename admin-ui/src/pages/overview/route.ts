import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { oneOf, searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.ts';
import { ranges } from './queries.ts';

export const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  validateSearch: searchOf({ range: oneOf(ranges) }),
  component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
});
