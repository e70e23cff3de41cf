import { createRoute } from '@tanstack/react-router';
import { anyNumber, anyText, lazyPage, oneOf, searchOf, shellRoute } from '../../app/routes.tsx';
import { teamQuery } from '../queries.ts';
import { memberFilters, memberSorts } from './list-members.ts';

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
