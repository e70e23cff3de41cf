import { createRoute } from '@tanstack/react-router';
import { lazyPage, rootRoute } from '../../app/routes.tsx';

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
