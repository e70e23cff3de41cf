import { createRoute } from '@tanstack/react-router';
import { anyNumber, anyText, lazyPage, searchOf, shellRoute } from '../../app/routes.tsx';

export const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: searchOf({
    q: anyText,
    action: anyText,
    kind: anyText,
    user: anyNumber,
    cursor: anyText,
  }),
  component: lazyPage(() => import('./audit-page.tsx'), 'AuditPage'),
});
