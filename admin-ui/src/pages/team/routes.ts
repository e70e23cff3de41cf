import { createRoute } from '@tanstack/react-router';
import { Users } from 'lucide-react';
import { lazyPage, load } from '../../model/lazy-page.ts';
import { teamQuery } from '../../model/queries.ts';
import { pageLink, shellRoute } from '../../model/routes.ts';
import { anyNumber, anyText, oneOf, searchOf } from '../../model/search.ts';

export const teamRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/team',
  staticData: pageLink('Company', 'Team', Users, 'developer', 'members roles invite invitations people'),
  validateSearch: searchOf({
    q: anyText,
    sort: oneOf(['idle']),
    page: anyNumber,
    member: anyNumber,
    dialog: oneOf(['invite', 'role', 'remove', 'password', 'factor']),
  }),
  loader: () => load(teamQuery),
  component: lazyPage(() => import('./team-page.tsx'), 'TeamPage'),
});
