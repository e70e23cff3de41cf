import { createRoute } from '@tanstack/react-router';
import { Building2 } from 'lucide-react';
import { lazyPage, load } from '../../model/lazy-page.ts';
import { noticeChannelsQuery, subscriptionSettingsQuery, teamQuery } from '../../model/queries.ts';
import { pageLink, shellRoute } from '../../model/routes.ts';
import { oneOf, searchOf } from '../../model/search.ts';

export const companyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/company',
  staticData: pageLink(
    ...(['Company', 'Company settings', Building2, 'developer'] as const),
    'slack webhook channels second factor endpoint verification',
  ),
  validateSearch: searchOf({ dialog: oneOf(['require-factor', 'slack', 'webhook']) }),
  loader: ({ context }) =>
    load(
      context.may('developer') && teamQuery,
      context.may('developer') && subscriptionSettingsQuery,
      context.may('admin') && noticeChannelsQuery,
    ),
  component: lazyPage(() => import('./company-page.tsx'), 'CompanyPage'),
});
