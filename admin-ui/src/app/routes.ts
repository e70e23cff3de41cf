import { createRoute } from '@tanstack/react-router';
import { rootRoute, shellRoute } from '../model/routes.ts';
import { auditRoute } from '../pages/audit/routes.ts';
import { companyRoute } from '../pages/company/routes.ts';
import { deliveriesRoute, deliveryRoute, sharedRoute } from '../pages/deliveries/routes.ts';
import { developersRoute } from '../pages/developers/routes.ts';
import { eventRoute, eventsRoute } from '../pages/events/routes.ts';
import { keyRoute, keysRoute } from '../pages/keys/routes.ts';
import { invitationRoute, passwordRoute } from '../pages/links/routes.ts';
import { notificationsRoute } from '../pages/notifications/routes.ts';
import { overviewRoute } from '../pages/overview/routes.ts';
import { recordRoute } from '../pages/records/routes.ts';
import { secondFactorRoute, securityRoute } from '../pages/security/routes.ts';
import { signInRoute } from '../pages/sign-in/routes.ts';
import {
  editSubscriptionRoute,
  newSubscriptionRoute,
  subscriptionRoute,
  subscriptionsRoute,
} from '../pages/subscriptions/routes.ts';
import { teamRoute } from '../pages/team/routes.ts';
import { usageRoute } from '../pages/usage/routes.ts';
import { NotFound, RootPage } from './root-page.tsx';
import { Shell } from './shell/shell.tsx';

rootRoute.update({ component: RootPage });
shellRoute.update({ component: Shell });

const notFoundRoute = createRoute({ getParentRoute: () => shellRoute, path: '$', component: NotFound });

/** All pages. Those with a `link` are in the sidebar, in this order. */
export const routeTree = rootRoute.addChildren([
  signInRoute,
  invitationRoute,
  passwordRoute,
  sharedRoute,
  secondFactorRoute,
  shellRoute.addChildren([
    overviewRoute,
    subscriptionsRoute,
    newSubscriptionRoute,
    subscriptionRoute,
    editSubscriptionRoute,
    deliveriesRoute,
    deliveryRoute,
    eventsRoute,
    eventRoute,
    recordRoute,
    keysRoute,
    keyRoute,
    usageRoute,
    developersRoute,
    teamRoute,
    companyRoute,
    auditRoute,
    notificationsRoute,
    securityRoute,
    notFoundRoute,
  ]),
]);
