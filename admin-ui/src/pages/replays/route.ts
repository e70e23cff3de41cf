import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { pathIds } from '../../app/path-id.ts';
import { shellRoute } from '../../app/shell-route.ts';

export const replayRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/replays/$id',
  params: pathIds('id'),
  component: lazyPage(() => import('./replay-page.tsx'), 'ReplayPage'),
});
