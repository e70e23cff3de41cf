import { CSPProvider } from '@base-ui/react/csp-provider';
import { Outlet, useRouter } from '@tanstack/react-router';
import { Menu as MenuIcon, Search } from 'lucide-react';
import { memo, Suspense, useEffect, useLayoutEffect, useState } from 'react';
import { useOpenAfterPaint } from '../../ui/after-paint.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';
import { endBoot } from '../boot.ts';
import { usePresence } from '../presence.ts';
import { commandKey } from './command-key.ts';
import { Deferred } from './deferred.tsx';
import { Navigation } from './navigation.tsx';
import { OfflineBar } from './offline-bar.tsx';
import { followOtherWindows } from './other-windows.ts';
import s from './shell.module.css';
import { ThemeTrigger, UserTrigger } from './triggers.tsx';
import { useLoadAhead } from './use-load-ahead.ts';

const CommandMenu = lazyPart(
  () => import('./command-menu.tsx'),
  (m) => m.CommandMenu,
);
const Drawer = lazyPart(
  () => import('./drawer.tsx'),
  (m) => m.Drawer,
);
const loadThemeMenu = () => import('./theme-menu.tsx');
const ThemeMenu = lazyPart(loadThemeMenu, (m) => m.ThemeMenu);
const loadUserMenu = () => import('./user-menu.tsx');
const UserMenu = lazyPart(loadUserMenu, (m) => m.UserMenu);
const Toaster = lazyPart(
  () => import('../../ui/toaster.tsx'),
  (m) => m.Toaster,
);
const Shortcuts = lazyPart(
  () => import('./shortcuts.tsx'),
  (m) => m.Shortcuts,
);

/** The frame around every signed-in page. */
export function Shell() {
  const [commands, setCommands] = useState(false);
  const commandsShown = useOpenAfterPaint(commands);
  // Null until it is first opened, which loads its code.
  const [drawer, setDrawer] = useState<boolean | null>(null);
  const [shortcuts, setShortcuts] = useState(false);
  const settled = useSettled();
  usePresence();
  useLoadAhead();
  useLayoutEffect(endBoot, []);
  useEffect(followOtherWindows, []);
  useKeys({ commands: setCommands, shortcuts: setShortcuts });
  useOnNavigation(() => setDrawer((before) => before && false));
  return (
    <CSPProvider disableStyleElements>
      {/* biome-ignore lint/a11y/useValidAnchor: a skip link is a link; the router must not see its fragment */}
      <a href="#main" className={s.skip} onClick={skip}>
        Skip to content
      </a>
      <div className={s.shell}>
        <aside className={s.sidebar} aria-label="Sidebar">
          <Navigation />
        </aside>
        <div className={s.column}>
          <header className={s.header}>
            <IconButton
              label="Open navigation"
              icon={<MenuIcon />}
              className={s.hamburger}
              onClick={() => setDrawer(true)}
            />
            <Button
              className={s.search}
              icon={<Search />}
              aria-keyshortcuts="Control+K Meta+K"
              onClick={() => setCommands(true)}
            >
              <span>Go to…</span>
              <kbd>{commandKey()} K</kbd>
            </Button>
            <Menus />
          </header>
          <OfflineBar />
          <main id="main" tabIndex={-1} className={s.main}>
            <Outlet />
          </main>
        </div>
      </div>
      <Suspense>{drawer !== null && <Drawer open={drawer} onClose={() => setDrawer(false)} />}</Suspense>
      <Suspense>{settled && <Toaster />}</Suspense>
      <Suspense>
        {commands && commandsShown && (
          <CommandMenu onClose={() => setCommands(false)} onShortcuts={() => setShortcuts(true)} />
        )}
      </Suspense>
      <Suspense>{shortcuts && <Shortcuts onClose={() => setShortcuts(false)} />}</Suspense>
    </CSPProvider>
  );
}

/** Memoized, so that what opens above the page does not render them. */
const Menus = memo(function Menus() {
  return (
    <div className={s.right}>
      <Deferred load={loadThemeMenu} placeholder={(events) => <ThemeTrigger {...events} />}>
        {(pressed) => <ThemeMenu defaultOpen={pressed} />}
      </Deferred>
      <Deferred load={loadUserMenu} placeholder={(events) => <UserTrigger {...events} />}>
        {(pressed) => <UserMenu defaultOpen={pressed} />}
      </Deferred>
    </div>
  );
});

/** After the first page is there, and before anyone has done something that is confirmed. */
const settledMs = 1000;

const useSettled = (): boolean => {
  const [settled, setSettled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), settledMs);
    return () => clearTimeout(timer);
  }, []);
  return settled;
};

/** Moves the focus only: the router would treat the fragment as a navigation. */
const skip = (event: { preventDefault: () => void }): void => {
  event.preventDefault();
  document.getElementById('main')?.focus();
};

const useKeys = ({ commands, shortcuts }: Record<'commands' | 'shortcuts', Set>): void => {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { key, metaKey, ctrlKey, altKey } = event;
      const modified = metaKey || ctrlKey || altKey;
      if (key.toLowerCase() === 'k' && (metaKey || ctrlKey) && !altKey) commands((open) => !open);
      else if (key === '?' && !modified && !isBusy(event.composedPath()[0])) shortcuts(() => true);
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [commands, shortcuts]);
};

type Set = (change: (open: boolean) => boolean) => void;

/** Whether the key is text input, or a dialog or menu is open. */
const isBusy = (target: EventTarget | undefined): boolean =>
  (target instanceof Element &&
    target.closest('input, textarea, select, [contenteditable="true"]') !== null) ||
  document.querySelector('[role="dialog"], [role="menu"]') !== null;

const useOnNavigation = (run: () => void): void => {
  const router = useRouter();
  // biome-ignore lint/correctness/useExhaustiveDependencies: one subscription for the life of the shell
  useEffect(() => router.subscribe('onBeforeNavigate', run), [router]);
};
