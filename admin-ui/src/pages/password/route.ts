import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';

/** The token is the fragment, which browsers send to no server. */
export const passwordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/password',
  component: lazyRouteComponent(() => import('./password-page.tsx'), 'PasswordPage'),
});
