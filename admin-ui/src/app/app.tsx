import {
  MutationCache,
  QueryCache,
  QueryClient,
  QueryClientProvider,
  type QueryKey,
} from '@tanstack/react-query';
import { createRouter, type ErrorComponentProps, RouterProvider, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../errors.ts';
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
import { Failed } from '../ui/failed.tsx';
import { isOutdated } from '../ui/lazy-part.ts';
import { notFound, notFoundRoute, rootRoute, shellRoute } from './routes.tsx';
import { isSignedOut, leave } from './session.ts';

/** The whole portal: one cache, one router, and the way out when a session has ended. */
export function App() {
  const [{ queryClient, router }] = useState(() => {
    const queryClient = createQueryClient((error) => {
      if (isSignedOut(error)) leave(queryClient, router, 'ended');
    });
    const router = createPortalRouter(queryClient);
    return { queryClient, router };
  });
  return (
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  );
}

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

const createPortalRouter = (queryClient: QueryClient) =>
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

/** Shown when a route fails to load, for example while the server is unreachable. */
function RouteError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  if (isOutdated(error)) return <Failed error={outdated} retry={() => location.reload()} />;
  return (
    <Failed
      error={error}
      retry={() => {
        reset();
        void router.invalidate();
      }}
    />
  );
}

/** The page was already reloaded once (by `lazyPart`, or by the router). */
const outdated = 'The portal may be updating, or unreachable. Try again in a moment.';

declare module '@tanstack/react-query' {
  interface Register {
    mutationMeta: {
      /** Queries whose data is out of date after the mutation. */
      readonly invalidates?: readonly QueryKey[];
    };
  }
}

/** Calls `onError` for every failed call. Retries only reads, and only after transient errors. */
const createQueryClient = (onError: (error: Error) => void): QueryClient => {
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({
      onError,
      onSuccess: (_data, _input, _result, { meta }) => {
        for (const queryKey of meta?.invalidates ?? []) void client.invalidateQueries({ queryKey });
      },
    }),
    defaultOptions: {
      // A browser that believes to be offline asks too: the failure is shown, and the belief may be wrong.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        staleTime: 10_000,
        retry: (failures, error) => failures < 2 && isTransient(error),
        retryDelay: (failures) => 400 * 2 ** failures,
      },
    },
  });
  return client;
};

const isTransient = (error: Error): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status === 503 || error.status === 504);
