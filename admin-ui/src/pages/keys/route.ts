import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.ts';
import { anyNumber, anyText, oneOf, searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.ts';
import { keySorts, keysPageQuery, keyViews } from './queries.ts';

export const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  validateSearch: searchOf({
    show: oneOf(keyViews),
    q: anyText,
    sort: oneOf(keySorts),
    cursor: anyText,
    /** The row to mark. */
    key: anyNumber,
    dialog: oneOf(['create']),
    revoke: anyNumber,
  }),
  loader: ({ context }) => void context.queryClient.prefetchQuery(keysPageQuery({})),
  component: lazyPage(() => import('./keys-page.tsx'), 'KeysPage'),
});
