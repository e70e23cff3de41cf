import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import * as v from 'valibot';
import { shellRoute } from '../../app/shell-route.ts';

export const developerTabs = ['start', 'signatures', 'checker', 'reference'] as const;
export const languages = ['bash', 'node', 'python', 'php', 'go', 'ruby', 'java', 'csharp'] as const;

export const developersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers',
  validateSearch: v.object({
    tab: v.fallback(v.optional(v.picklist(developerTabs)), undefined),
    language: v.fallback(v.optional(v.picklist(languages)), undefined),
    operation: v.fallback(v.optional(v.string()), undefined),
  }),
  component: lazyRouteComponent(() => import('./DevelopersPage.tsx'), 'DevelopersPage'),
});
