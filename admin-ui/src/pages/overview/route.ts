import { createRoute } from '@tanstack/react-router';
import { lazyPage, oneOf, searchOf, shellRoute } from '../../app/routes.tsx';
import { ranges } from '../queries.ts';

export const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  validateSearch: searchOf({ range: oneOf(ranges) }),
  component: lazyPage(() => import('./overview-page.tsx'), 'OverviewPage'),
});
