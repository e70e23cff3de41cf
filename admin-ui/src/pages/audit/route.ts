import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import * as v from 'valibot';
import { shellRoute } from '../../app/shell-route.ts';

const text = v.fallback(v.optional(v.string()), undefined);

export const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: v.object({
    action: text,
    kind: text,
    user: v.fallback(v.optional(v.number()), undefined),
    cursor: text,
    entry: v.fallback(v.optional(v.number()), undefined),
  }),
  component: lazyRouteComponent(() => import('./AuditPage.tsx'), 'AuditPage'),
});
