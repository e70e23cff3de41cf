import { QueryClientProvider } from '@tanstack/react-query';
import { createRouter, type ErrorComponentProps, RouterProvider, useRouter } from '@tanstack/react-router';
import { useCallback, useEffect } from 'react';
import { call } from '../model/client.ts';
import { isModuleMissing } from '../model/lazy-page.ts';
import { failedForMs, isTransient, onError, queryClient } from '../model/query-client.ts';
import { isSignedOut, leave, sessionQuery } from '../model/session.ts';
import { ApiError } from '../ui/errors.ts';
import { Failed } from '../ui/states.tsx';
import { NotFound } from './root-page.tsx';
import { routeTree } from './routes.ts';

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  );
}

const router = createRouter({
  routeTree,
  basepath: '/portal',
  defaultPendingMs: 400,
  defaultErrorComponent: RouteError,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
});

onError((error) => {
  if (isSignedOut(error)) void leaveOrReload();
  if (error instanceof ApiError && error.extra.reason === 'second_factor_required')
    void queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 }).then(() => router.invalidate());
});
/** Another window may have replaced the session, as a switch of the company does, while a request of the one before was under way. */
const leaveOrReload = async (): Promise<void> => {
  const known = queryClient.getQueryData(sessionQuery.queryKey);
  if (!known) return;
  const present = await call('getSession', {}).catch(() => null);
  if (present && present.session.id !== known.session.id) location.reload();
  else leave(router, 'ended');
};
// On every page: the answer for which `page-ahead.js` asked would otherwise be taken by a later request.
void queryClient.prefetchQuery(sessionQuery);

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
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
