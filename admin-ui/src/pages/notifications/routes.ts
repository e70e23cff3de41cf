import { createRoute } from '@tanstack/react-router';
import { Bell } from 'lucide-react';
import { lazyPage, load } from '../../model/lazy-page.ts';
import { noticesQuery } from '../../model/queries.ts';
import { pageLink, shellRoute } from '../../model/routes.ts';
import { anyText, oneOf, searchOf } from '../../model/search.ts';

const notificationsSearch = searchOf({ tab: oneOf(['settings']), cursor: anyText });

export const notificationsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/notifications',
  staticData: pageLink('Company', 'Notifications', Bell, 'viewer', 'alerts mails slack webhook'),
  validateSearch: notificationsSearch,
  loader: () => load(noticesQuery({})),
  component: lazyPage(() => import('./notifications-page.tsx'), 'NotificationsPage'),
});
