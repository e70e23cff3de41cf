import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { anyNumber, anyText, searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.ts';

export const testRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/test',
  validateSearch: searchOf({
    subscription: anyNumber,
    type: anyText,
  }),
  component: lazyRouteComponent(() => import('./test-page.tsx'), 'TestPage'),
});
