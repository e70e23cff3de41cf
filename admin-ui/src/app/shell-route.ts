import { createRoute, redirect } from '@tanstack/react-router';
import { untilPainted } from '../ui/after-paint.ts';
import { lazyPage } from './lazy-page.ts';
import { rootRoute } from './root-route.tsx';
import { sessionQuery } from './session.ts';

const loadShell = () => import('./shell/shell.tsx');

/** The parent of all pages that require a session. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'in',
  beforeLoad: async ({ context, location, cause, matches }) => {
    // The link shows first that it was chosen: the router renders pages without pause, which takes a slow device long.
    if (cause === 'stay' && matches.at(-1)?.cause === 'enter') await untilPainted();
    // Most visitors are signed in, so the shell's code loads while the session is checked.
    void loadShell();
    const session = await context.queryClient.ensureQueryData({ ...sessionQuery, revalidateIfStale: true });
    if (session === null) {
      const next = location.href === '/' ? undefined : location.href;
      throw redirect({ to: '/sign-in', search: { next } });
    }
  },
  component: lazyPage(loadShell, 'Shell'),
});

/** Also shown in place of a page whose path has an invalid ID. */
export const notFound = lazyPage(() => import('./not-found.tsx'), 'NotFound');

/** Every path that no page has. */
export const notFoundRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '$',
  component: notFound,
});
