import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  type AnyRouter,
  createRouter,
  type ErrorComponentProps,
  RouterProvider,
  useRouter,
} from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { changes } from '../model/changes.ts';
import { onChange } from '../model/client.ts';
import { isModuleMissing } from '../model/lazy-page.ts';
import { isSignedOut, leave, sessionQuery } from '../model/session.ts';
import { ApiError } from '../ui/errors.ts';
import { forgetDraft } from '../ui/form-draft.ts';
import { Failed } from '../ui/states.tsx';
import { NotFound } from './root-page.tsx';
import { routeTree } from './routes.ts';

export function App() {
  const [{ queryClient, router }] = useState(() => {
    const queryClient = createQueryClient((error) => {
      if (isSignedOut(error)) leave(queryClient, router, 'ended');
      if (error instanceof ApiError && error.extra.reason === 'second_factor_required')
        void queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 }).then(() => router.invalidate());
    });
    // On every page: the answer for which `page-ahead.js` asked would otherwise be taken by a later request.
    void queryClient.prefetchQuery(sessionQuery);
    const router = createPortalRouter(queryClient);
    loadFirstPage(router);
    return { queryClient, router };
  });
  return (
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  );
}

const createPortalRouter = (queryClient: QueryClient) =>
  createRouter({
    routeTree,
    basepath: '/portal',
    context: { queryClient },
    defaultPendingMs: 400,
    defaultErrorComponent: RouteError,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: true,
  });

/** Loads the code of the page while the session is checked, which the router would do one after the other. */
const loadFirstPage = (router: AnyRouter): void => {
  for (const { routeId } of router.matchRoutes(router.latestLocation)) {
    const { component } = router.routesById[routeId].options;
    // Opening the page shows a failure.
    component?.preload?.().catch(() => {});
  }
};

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createPortalRouter>;
  }
}

function RouteError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = useCallback((): void => {
    reset();
    void router.invalidate();
  }, [reset, router]);
  // A page that met a server that was away for a moment opens by itself.
  useEffect(() => {
    if (!isTransient(error)) return;
    const timer = setTimeout(retry, failedForMs);
    return () => clearTimeout(timer);
  }, [error, retry]);
  if (isModuleMissing(error)) return <Failed error={outdated} retry={() => location.reload()} />;
  return <Failed error={error} retry={retry} />;
}

/** The router has already reloaded the page once. */
const outdated = 'The portal may be updating, or unreachable. Try again in a moment.';

declare module '@tanstack/react-query' {
  interface Register {
    mutationMeta: {
      /** The form whose draft is saved by it (`useDraft`). */
      readonly saves?: string;
    };
  }
}

const createQueryClient = (onError: (error: Error) => void): QueryClient => {
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({
      onError,
      onSuccess: (_data, _input, _result, { meta }) => {
        if (meta?.saves !== undefined) forgetDraft(meta.saves);
      },
    }),
    defaultOptions: {
      // A browser that believes to be offline asks too: the failure is shown, and the belief may be wrong.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        // Results are passed on before all of them is read.
        notifyOnChangeProps: 'all',
        staleTime: 10_000,
        retry: (failures, error) => failures < 2 && isTransient(error),
        retryDelay: (failures) => 400 * 2 ** failures,
        // A part that appears does not ask again for what has just failed.
        retryOnMount: ({ state }) => Date.now() - state.errorUpdatedAt > failedForMs,
      },
    },
  });
  onChange((id) => {
    const changed: ReadonlySet<unknown> = new Set(changes[id as keyof typeof changes]);
    void client.invalidateQueries({
      predicate: ({ queryKey }) => queryKey.some((part) => changed.has(part)),
    });
  });
  return client;
};

const failedForMs = 5000;

const isTransient = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status === 503 || error.status === 504);
