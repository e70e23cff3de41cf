import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { rootRoute } from '../../app/root-route.tsx';

// Each token is in the URL's fragment, which browsers send to no server.

export const invitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitation',
  component: lazyPage(() => import('./invitation-page.tsx'), 'InvitationPage'),
});

export const passwordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/password',
  component: lazyPage(() => import('./password-page.tsx'), 'PasswordPage'),
});
