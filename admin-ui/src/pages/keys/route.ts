import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { anyNumber, anyText, oneOf, searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.ts';
import { keysPageQuery } from './queries.ts';

export const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  validateSearch: searchOf({
    show: oneOf(['revoked']),
    cursor: anyText,
    dialog: oneOf(['create']),
    revoke: anyNumber,
  }),
  loader: ({ context }) => void context.queryClient.prefetchQuery(keysPageQuery({})),
  component: lazyRouteComponent(() => import('./keys-page.tsx'), 'KeysPage'),
});
