import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { pathIds } from '../../app/path-id.ts';
import { shellRoute } from '../../app/shell-route.ts';

export const replayRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/replays/$id',
  params: pathIds('id'),
  component: lazyRouteComponent(() => import('./replay-page.tsx'), 'ReplayPage'),
});
