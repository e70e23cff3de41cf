import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import * as v from 'valibot';
import { shellRoute } from '../../app/shell-route.ts';

export const testRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/test',
  validateSearch: v.object({
    subscription: v.fallback(v.optional(v.number()), undefined),
    type: v.fallback(v.optional(v.string()), undefined),
  }),
  component: lazyRouteComponent(() => import('./TestPage.tsx'), 'TestPage'),
});
