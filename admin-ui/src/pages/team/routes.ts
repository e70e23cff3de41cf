import { createRoute } from '@tanstack/react-router';
import { Users } from 'lucide-react';
import { lazyPage, load } from '../../model/lazy-page.ts';
import { memberFilters, memberSorts } from '../../model/members.ts';
import { teamQuery } from '../../model/queries.ts';
import { pageLink, shellRoute } from '../../model/routes.ts';
import { anyNumber, anyText, oneOf, searchOf } from '../../model/search.ts';

export const teamRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/team',
  staticData: pageLink('Company', 'Team', Users, 'developer', 'members roles invite invitations people'),
  validateSearch: searchOf({
    q: anyText,
    show: oneOf(memberFilters),
    sort: oneOf(memberSorts),
    page: anyNumber,
    member: anyNumber,
    dialog: oneOf(['invite', 'role', 'remove', 'password', 'factor']),
  }),
  loader: ({ context }) => load(context, teamQuery),
  component: lazyPage(() => import('./team-page.tsx'), 'TeamPage'),
});
