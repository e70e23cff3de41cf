import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { anyNumber, anyText, searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.ts';

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
