import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { oneOf, searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.ts';

export const ranges = ['1h', '24h', '7d', '30d'] as const;

export const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  validateSearch: searchOf({ range: oneOf(ranges) }),
  component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
});
