import type { QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { auditRoute } from '../pages/audit/route.ts';
import { deliveriesRoute, deliveryRoute } from '../pages/deliveries/route.ts';
import { developersRoute } from '../pages/developers/route.ts';
import { eventRoute, eventsRoute } from '../pages/events/route.ts';
import { keysRoute } from '../pages/keys/route.ts';
import { invitationRoute, passwordRoute } from '../pages/links/route.ts';
import { overviewRoute } from '../pages/overview/route.ts';
import { replayRoute } from '../pages/replays/route.ts';
import { securityRoute } from '../pages/security/route.ts';
import { signInRoute } from '../pages/sign-in/route.ts';
import {
  editSubscriptionRoute,
  newSubscriptionRoute,
  subscriptionRoute,
  subscriptionsRoute,
} from '../pages/subscriptions/route.ts';
import { teamRoute } from '../pages/team/route.ts';
import { testRoute } from '../pages/test/route.ts';
import { rootRoute } from './root-route.tsx';
import { RouteError } from './route-error.tsx';
import { notFound, notFoundRoute, shellRoute } from './shell-route.ts';

const routeTree = rootRoute.addChildren([
  signInRoute,
  invitationRoute,
  passwordRoute,
  shellRoute.addChildren([
    overviewRoute,
    keysRoute,
    subscriptionsRoute,
    newSubscriptionRoute,
    subscriptionRoute,
    editSubscriptionRoute,
    deliveriesRoute,
    deliveryRoute,
    replayRoute,
    eventsRoute,
    eventRoute,
    testRoute,
    developersRoute,
    teamRoute,
    auditRoute,
    securityRoute,
    notFoundRoute,
  ]),
]);

export const createPortalRouter = (queryClient: QueryClient) =>
  createRouter({
    routeTree,
    basepath: '/portal',
    context: { queryClient },
    defaultPendingMs: 400,
    defaultErrorComponent: RouteError,
    defaultNotFoundComponent: notFound,
    scrollRestoration: true,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createPortalRouter>;
  }
}
