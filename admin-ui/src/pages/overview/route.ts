import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import * as v from 'valibot';
import { shellRoute } from '../../app/shell-route.ts';

export const ranges = ['1h', '24h', '7d', '30d'] as const;

export const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  validateSearch: v.object({ range: v.fallback(v.optional(v.picklist(ranges)), undefined) }),
  component: lazyRouteComponent(() => import('./OverviewPage.tsx'), 'OverviewPage'),
});
