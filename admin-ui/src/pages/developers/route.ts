import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { anyText, oneOf, searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.ts';
import { languages } from './snippets/languages.ts';

const developerTabs = ['start', 'signatures', 'checker', 'reference'] as const;

export const developersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers',
  validateSearch: searchOf({
    tab: oneOf(developerTabs),
    language: oneOf(languages),
    operation: anyText,
  }),
  component: lazyPage(() => import('./developers-page.tsx'), 'DevelopersPage'),
});
