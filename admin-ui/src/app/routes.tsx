import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  lazyRouteComponent,
  Outlet,
  notFound as pathNotFound,
  redirect,
  useRouter,
} from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { untilPainted } from '../ui/after-paint.ts';
import { loadModule } from '../ui/lazy-part.ts';
import { sessionQuery } from './session.ts';

export const rootRoute = createRootRouteWithContext<{ readonly queryClient: QueryClient }>()({
  component: () => (
    <>
      <Outlet />
      <Announcer />
    </>
  ),
});

/** A page whose code loads when it is first opened, or ahead of that. */
export const lazyPage = <Module extends Record<string, unknown>, Name extends keyof Module & string>(
  load: () => Promise<Module>,
  name: Name,
) => lazyRouteComponent(() => loadModule(load), name);

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

/**
 * After a navigation, moves the focus to the new page's heading and announces it to screen readers. Waits for pages
 * whose code is still loading.
 */
function Announcer() {
  const router = useRouter();
  const [text, setText] = useState('');
  useEffect(() => {
    let frame = 0;
    const stop = router.subscribe('onRendered', ({ fromLocation, toLocation }) => {
      if (!fromLocation || fromLocation.pathname === toLocation.pathname) return;
      cancelAnimationFrame(frame);
      const find = (triesLeft: number): void => {
        const heading = document.querySelector<HTMLElement>('h1');
        if (!heading && triesLeft > 0) {
          frame = requestAnimationFrame(() => find(triesLeft - 1));
          return;
        }
        heading?.focus({ preventScroll: true });
        setText(heading?.textContent ?? document.title);
      };
      frame = requestAnimationFrame(() => find(60));
    });
    return () => {
      cancelAnimationFrame(frame);
      stop();
    };
  }, [router]);
  return (
    <div className="visually-hidden" aria-live="polite" aria-atomic="true">
      {text}
    </div>
  );
}

/**
 * Parses a page's search parameters. Drops values of the wrong type, so that an old or mistyped link still opens. They
 * become undefined, because the router merges the result into the raw parameters.
 */
export const searchOf =
  <Shape extends Readonly<Record<string, (value: unknown) => unknown>>>(shape: Shape) =>
  (raw: Readonly<Record<string, unknown>>): Search<Shape> =>
    Object.fromEntries(
      Object.entries(shape)
        .filter(([name]) => name in raw)
        .map(([name, parse]) => [name, parse(raw[name])]),
    ) as Search<Shape>;

type Search<Shape extends Readonly<Record<string, (value: unknown) => unknown>>> = {
  [Name in keyof Shape]?: ReturnType<Shape[Name]> | undefined;
};

export const anyText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export const anyNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

export const oneOf =
  <const Value extends string>(values: readonly Value[]) =>
  (value: unknown): Value | undefined =>
    values.find((one) => one === value);

/** Parses and writes ids in a path. Anything but a whole number leads to the not-found page. */
export const pathIds = <Name extends string>(...names: readonly Name[]) => ({
  parse: (raw: Record<Name, string>): Record<Name, number> =>
    Object.fromEntries(names.map((name) => [name, toId(raw[name])])) as Record<Name, number>,
  stringify: (ids: Record<Name, number>): Record<Name, string> =>
    Object.fromEntries(names.map((name) => [name, String(ids[name])])) as Record<Name, string>,
});

const toId = (text: string): number => {
  const id = Number(text);
  if (!/^\d{1,15}$/.test(text) || !Number.isSafeInteger(id)) throw pathNotFound();
  return id;
};
