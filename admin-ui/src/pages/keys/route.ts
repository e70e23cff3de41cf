import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { operationQuery } from '../../api/query.ts';
import { anyNumber, anyText, oneOf, searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.ts';

/** All pages of the list, to be read anew after a change. */
export const keysQuery = operationQuery('listApiKeys', {});

export const keysPageQuery = ({
  show,
  cursor,
}: {
  show?: 'revoked' | undefined;
  cursor?: string | undefined;
}) => operationQuery('listApiKeys', { query: { state: show ?? 'active', cursor } });

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
