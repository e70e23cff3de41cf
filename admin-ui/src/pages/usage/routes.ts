import { createRoute } from '@tanstack/react-router';
import { Gauge } from 'lucide-react';
import { lazyPage } from '../../model/lazy-page.ts';
import { pageLink, shellRoute } from '../../model/routes.ts';
import { anyNumber, anyText, oneOf, searchOf } from '../../model/search.ts';

export const usageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/usage',
  staticData: pageLink('Integrate', 'API usage', Gauge, 'viewer', 'limits refused requests export csv'),
  validateSearch: searchOf({
    day: anyText,
    key: anyNumber,
    only: oneOf(['refused', 'failed']),
    page: anyNumber,
  }),
  component: lazyPage(() => import('./usage-page.tsx'), 'UsagePage'),
});
