import { createRoute } from '@tanstack/react-router';
import { Gauge } from 'lucide-react';
import { lazyPage, load } from '../../model/lazy-page.ts';
import { pageLink, shellRoute } from '../../model/routes.ts';
import { usageDays, usageSearch } from './usage.ts';

export const usageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/usage',
  staticData: pageLink('Integrate', 'API usage', Gauge, 'viewer', 'limits refused requests export csv'),
  validateSearch: usageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => load(...usageDays(deps).queries),
  component: lazyPage(() => import('./usage-page.tsx'), 'UsagePage'),
});
