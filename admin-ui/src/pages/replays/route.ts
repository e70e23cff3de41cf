import { createRoute } from '@tanstack/react-router';
import { lazyPage, pathIds, shellRoute } from '../../app/routes.tsx';

export const replayRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/replays/$id',
  params: pathIds('id'),
  component: lazyPage(() => import('./replay-page.tsx'), 'ReplayPage'),
});
