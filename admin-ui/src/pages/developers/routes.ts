import { createRoute } from '@tanstack/react-router';
import { BookOpen } from 'lucide-react';
import { lazyPage } from '../../model/lazy-page.ts';
import { pageLink, shellRoute } from '../../model/routes.ts';
import { oneOf, searchOf } from '../../model/search.ts';

export const developersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers',
  staticData: pageLink(
    'Integrate',
    'Developers',
    BookOpen,
    'viewer',
    'docs settings code openapi agents mcp ai claude cursor',
  ),
  validateSearch: searchOf({ dialog: oneOf(['agent-read', 'agent-write']) }),
  component: lazyPage(() => import('./developers-page.tsx'), 'DevelopersPage'),
});
