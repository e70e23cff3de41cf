import { CSPProvider } from '@base-ui/react/csp-provider';
import { Outlet, useRouter } from '@tanstack/react-router';
import { Menu as MenuIcon, Search } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { Button, IconButton } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { ToastProvider } from '../../ui/Toast.tsx';
import { Navigation } from './Navigation.tsx';
import s from './Shell.module.css';
import { ThemeMenu } from './ThemeMenu.tsx';
import { UserMenu } from './UserMenu.tsx';

const CommandMenu = lazy(() => import('./CommandMenu.tsx').then((m) => ({ default: m.CommandMenu })));

/** The frame around every page behind the sign-in. */
export function Shell() {
  const [commands, setCommands] = useState(false);
  const [drawer, setDrawer] = useState(false);
  useCommandKey(setCommands);
  useOnNavigation(() => setDrawer(false));
  return (
    <CSPProvider disableStyleElements>
      <ToastProvider>
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
              <div className={s.right}>
                <ThemeMenu />
                <UserMenu />
              </div>
            </header>
            <main id="main" tabIndex={-1} className={s.main}>
              <Outlet />
            </main>
          </div>
        </div>
        <Dialog open={drawer} onClose={() => setDrawer(false)} title="Navigation" side>
          <Navigation plain />
        </Dialog>
        <Suspense>{commands && <CommandMenu onClose={() => setCommands(false)} />}</Suspense>
      </ToastProvider>
    </CSPProvider>
  );
}

/** The fragment would be a navigation to the router; the focus is all that is wanted. */
const skip = (event: { preventDefault: () => void }): void => {
  event.preventDefault();
  document.getElementById('main')?.focus();
};

const isMac = (): boolean => /Mac|iPhone|iPad/.test(navigator.userAgent);
const commandKey = (): string => (isMac() ? '⌘' : 'Ctrl');

const useCommandKey = (set: (change: (open: boolean) => boolean) => void): void => {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey) return;
      event.preventDefault();
      set((open) => !open);
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [set]);
};

const useOnNavigation = (run: () => void): void => {
  const router = useRouter();
  // biome-ignore lint/correctness/useExhaustiveDependencies: one subscription for the life of the shell
  useEffect(() => router.subscribe('onBeforeNavigate', run), [router]);
};
