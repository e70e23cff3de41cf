import { CSPProvider } from '@base-ui/react/csp-provider';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Outlet, useRouter } from '@tanstack/react-router';
import { Menu as MenuIcon, Search } from 'lucide-react';
import {
  memo,
  type ReactElement,
  type ReactNode,
  Suspense,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { call } from '../../api/client.ts';
import { useOpenAfterPaint } from '../../ui/after-paint.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { lazyPart, loadParts } from '../../ui/lazy-part.ts';
import { endBoot } from '../boot.ts';
import { hintKey, sessionQuery, useSession } from '../session.ts';
import { Navigation } from './navigation.tsx';
import { OfflineBar } from './offline-bar.tsx';
import s from './shell.module.css';
import { commandKey, ThemeTrigger, UserTrigger } from './triggers.tsx';

const CommandMenu = lazyPart(
  () => import('./command-menu.tsx'),
  (m) => m.CommandMenu,
);
const loadMenus = () => import('./menus.tsx');
const Drawer = lazyPart(loadMenus, (m) => m.Drawer);
const ThemeMenu = lazyPart(loadMenus, (m) => m.ThemeMenu);
const UserMenu = lazyPart(loadMenus, (m) => m.UserMenu);
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
      <Deferred load={loadMenus} placeholder={(events) => <ThemeTrigger {...events} />}>
        {(pressed) => <ThemeMenu defaultOpen={pressed} />}
      </Deferred>
      <Deferred load={loadMenus} placeholder={(events) => <UserTrigger {...events} />}>
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

interface DeferredProps {
  /** Loads the code of the control. */
  readonly load: () => Promise<unknown>;
  /** Stands in for the control until its code is loaded. */
  readonly placeholder: (events: {
    readonly onClick: () => void;
    readonly onPointerEnter: () => void;
  }) => ReactElement;
  /** @param pressed whether the stand-in was pressed, so that the control opens at once. */
  readonly children: (pressed: boolean) => ReactNode;
}

/** After the first page has settled. */
const deferredMs = 1500;

/**
 * A control whose code is not part of the first page: it loads on first use, or when the page has settled. It never takes
 * the place of its stand-in under the pointer: a press that begins there must end there.
 */
function Deferred({ load, placeholder, children }: DeferredProps) {
  const [wanted, setWanted] = useState<'later' | 'shown' | 'pressed'>('later');
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (wanted !== 'later') return;
    const isFree = (): boolean => place.current?.matches(':hover, :focus-within') === false;
    const show = (): void => {
      if (isFree()) setWanted('shown');
    };
    const timer = setInterval(() => {
      if (isFree()) load().then(show, () => {});
    }, deferredMs);
    return () => clearInterval(timer);
  }, [wanted, load]);
  const standIn = placeholder({
    onClick: () => setWanted('pressed'),
    onPointerEnter: () => void load().catch(() => {}),
  });
  return (
    <span ref={place}>
      {wanted === 'later' ? (
        standIn
      ) : (
        <Suspense fallback={standIn}>{children(wanted === 'pressed')}</Suspense>
      )}
    </span>
  );
}

/** After the first page has settled. */
const loadAheadMs = 2000;

/**
 * Loads the code of all pages, one after another, so that each opens at once, also while the server cannot be reached.
 * Browsers that save data load each page when it is opened.
 */
const useLoadAhead = (): void => {
  const router = useRouter();
  useEffect(() => {
    if ((navigator as { connection?: { saveData?: boolean } }).connection?.saveData) return;
    let stopped = false;
    const load = async (): Promise<void> => {
      await loadParts();
      for (const { options } of Object.values(router.routesById)) {
        if (stopped) return;
        await (options.component as { preload?: () => Promise<void> } | undefined)?.preload?.();
      }
    };
    const timer = setTimeout(() => void load(), loadAheadMs);
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [router]);
};

const longestPollMs = 5 * 60_000;

/**
 * Polls the session. Keeps it alive while someone uses a page that sends no requests, and notices when it ended.
 */
const usePresence = (): void => {
  const session = useSession();
  const everyMs = Math.min(session.session.idleTimeoutMs / 4, longestPollMs);
  const queryClient = useQueryClient();
  useQuery({
    queryKey: ['presence', session.session.id],
    queryFn: async ({ signal }) => {
      const facts = await call('getSession', {}, signal);
      queryClient.setQueryData(sessionQuery.queryKey, facts);
      return facts;
    },
    initialData: session,
    staleTime: everyMs,
    refetchInterval: everyMs,
    enabled: session.session.id > 0,
  });
};

/**
 * Reloads the page when another window of this browser switches companies. All windows share the session cookie, so
 * this one would show the old company and act in the new one.
 */
const followOtherWindows = (): (() => void) => {
  const changed = ({ key, oldValue, newValue }: StorageEvent): void => {
    if (key === hintKey && oldValue !== null && newValue !== null && oldValue !== newValue)
      location.assign('/portal/');
  };
  addEventListener('storage', changed);
  return () => removeEventListener('storage', changed);
};
