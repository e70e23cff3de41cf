import { createRoute } from '@tanstack/react-router';
import { anyNumber, anyText, lazyPage, searchOf, shellRoute } from '../../app/routes.tsx';

export const testRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/test',
  validateSearch: searchOf({
    subscription: anyNumber,
    type: anyText,
  }),
  component: lazyPage(() => import('./test-page.tsx'), 'TestPage'),
});
