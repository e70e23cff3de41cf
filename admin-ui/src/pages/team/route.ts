import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { anyNumber, anyText, oneOf, searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.ts';
import { memberFilters, memberSorts } from './list-members.ts';
import { teamQuery } from './queries.ts';

export const teamRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/team',
  validateSearch: searchOf({
    q: anyText,
    show: oneOf(memberFilters),
    sort: oneOf(memberSorts),
    page: anyNumber,
    /** The row to mark. */
    member: anyNumber,
    dialog: oneOf(['invite']),
    role: anyNumber,
    remove: anyNumber,
    password: anyNumber,
    factor: anyNumber,
  }),
  loader: ({ context }) => void context.queryClient.prefetchQuery(teamQuery),
  component: lazyPage(() => import('./team-page.tsx'), 'TeamPage'),
});
