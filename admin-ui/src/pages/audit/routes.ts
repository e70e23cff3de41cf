import { createRoute } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { lazyPage, load } from '../../model/lazy-page.ts';
import { teamQuery } from '../../model/queries.ts';
import { pageLink, shellRoute } from '../../model/routes.ts';
import { auditQuery, auditSearch, leaversQuery } from './audit.ts';

export const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  staticData: pageLink('Company', 'Audit log', ScrollText, 'admin', 'history changes who'),
  validateSearch: auditSearch,
  loaderDeps: ({ search }) => search,
  // The page tells the other roles that they may not read it, without asking the server.
  loader: ({ context, deps }) =>
    context.may('admin') ? load(auditQuery(deps), teamQuery, leaversQuery) : [],
  component: lazyPage(() => import('./audit-page.tsx'), 'AuditPage'),
});
