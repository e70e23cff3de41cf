import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../model/lazy-page.ts';
import { rootRoute } from '../../model/routes.ts';

export const invitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitation',
  component: lazyPage(() => import('./link-pages.tsx'), 'InvitationPage'),
});

export const passwordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/password',
  component: lazyPage(() => import('./link-pages.tsx'), 'PasswordPage'),
});
