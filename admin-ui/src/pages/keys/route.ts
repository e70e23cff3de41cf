import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { operationQuery } from '../../api/query.ts';
import { anyNumber, oneOf, searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.ts';

export const keysQuery = operationQuery('listApiKeys', {});

export const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  validateSearch: searchOf({
    show: oneOf(['revoked']),
    dialog: oneOf(['create']),
    revoke: anyNumber,
  }),
  loader: ({ context }) => void context.queryClient.prefetchQuery(keysQuery),
  component: lazyRouteComponent(() => import('./KeysPage.tsx'), 'KeysPage'),
});
