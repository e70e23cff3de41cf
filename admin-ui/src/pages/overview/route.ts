import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { oneOf, searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.ts';
import { ranges } from './queries.ts';

export const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  validateSearch: searchOf({ range: oneOf(ranges) }),
  component: lazyPage(() => import('./overview-page.tsx'), 'OverviewPage'),
});
