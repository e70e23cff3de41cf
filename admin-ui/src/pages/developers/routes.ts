import { createRoute } from '@tanstack/react-router';
import { BookOpen } from 'lucide-react';
import { lazyPage } from '../../model/lazy-page.ts';
import { languages } from '../../model/queries.ts';
import { pageLink, shellRoute } from '../../model/routes.ts';
import { oneOf, searchOf } from '../../model/search.ts';

export const developersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers',
  staticData: pageLink('Integrate', 'Developers', BookOpen, 'viewer', 'docs quick start signature openapi'),
  validateSearch: searchOf({
    tab: oneOf(['start', 'signatures', 'checker', 'settings']),
    language: oneOf(languages),
  }),
  component: lazyPage(() => import('./developers-page.tsx'), 'DevelopersPage'),
});
