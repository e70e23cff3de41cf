import { createRoute } from '@tanstack/react-router';
import { anyNumber, anyText, lazyPage, oneOf, searchOf, shellRoute } from '../../app/routes.tsx';
import { keySorts, keysPageQuery, keyViews } from '../queries.ts';

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
