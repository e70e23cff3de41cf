import { createRoute } from '@tanstack/react-router';
import { FlaskConical } from 'lucide-react';
import { lazyPage, load } from '../../model/lazy-page.ts';
import { eventTypesQuery, subscriptionsQuery } from '../../model/queries.ts';
import { pageLink, shellRoute } from '../../model/routes.ts';
import { anyNumber, anyText, searchOf } from '../../model/search.ts';

export const testRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/test',
  staticData: pageLink('Webhooks', 'Test delivery', FlaskConical, 'developer', 'try sample send'),
  validateSearch: searchOf({ subscription: anyNumber, type: anyText }),
  loader: ({ context }) => load(context, subscriptionsQuery, eventTypesQuery),
  component: lazyPage(() => import('./test-page.tsx'), 'TestPage'),
});
