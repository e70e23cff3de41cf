import { createRootRoute, createRoute, redirect } from '@tanstack/react-router';
import type { LucideIcon } from 'lucide-react';
import { attentionQuery, lastHourQuery } from './attention.ts';
import { load } from './lazy-page.ts';
import { queryClient } from './query-client.ts';
import { lacksFactor, type Role, roleAtLeast, sessionQuery } from './session.ts';

// The parents of all pages. `app/routes.ts` gives them their components.

export const rootRoute = createRootRoute();

/** The parent of the pages for members. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'in',
  beforeLoad: async ({ location, cause }) => {
    // A page takes longer to render than a frame: the browser first paints the answer to the input.
    if (cause === 'stay') await new Promise((resolve) => setTimeout(resolve));
    const session = await queryClient.ensureQueryData({ ...sessionQuery, revalidateIfStale: true });
    if (session === null) {
      const next = location.href === '/' ? undefined : location.href;
      throw redirect({ to: '/sign-in', search: { next } });
    }
    if (lacksFactor(session)) throw redirect({ to: '/second-factor' });
    return { may: (least: Role) => roleAtLeast(session.user.role, least) };
  },
  // For the badges of every page.
  loader: () => load(attentionQuery, lastHourQuery),
});

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    readonly link?: PageLink;
  }
}

export interface PageLink {
  readonly group: string | undefined;
  readonly label: string;
  readonly icon: LucideIcon;
  readonly least: Role;
  readonly words: string;
}

/** Lists a page in the sidebar and the command menu. */
export const pageLink = (
  group: PageLink['group'],
  label: string,
  icon: LucideIcon,
  least: Role,
  words: string,
) => ({ link: { group, label, icon, least, words } });
