import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { anyNumber, anyText, searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.ts';

export const testRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/test',
  validateSearch: searchOf({
    subscription: anyNumber,
    type: anyText,
  }),
  component: lazyPage(() => import('./test-page.tsx'), 'TestPage'),
});
