import { createRoute } from '@tanstack/react-router';
import { anyText, lazyPage, oneOf, searchOf, shellRoute } from '../../app/routes.tsx';
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
