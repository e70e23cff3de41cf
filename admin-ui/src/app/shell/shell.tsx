import { CSPProvider } from '@base-ui/react/csp-provider';
import { useIsFetching, useQuery } from '@tanstack/react-query';
import { Outlet, useRouter } from '@tanstack/react-router';
import { Menu as MenuIcon, Search, WifiOff } from 'lucide-react';
import {
  type Dispatch,
  type ReactNode,
  type SetStateAction,
  Suspense,
  startTransition,
  useEffect,
  useState,
} from 'react';
import { queryClient } from '../../model/query-client.ts';
import { hintKey, sessionQuery, useSession } from '../../model/session.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { commandKey } from '../../ui/format.ts';
import { firstInput, later } from '../../ui/later.ts';
import { serverAnswers, useReachability } from '../../ui/reachability.ts';
import { TimeAgo } from '../../ui/values.tsx';
import { Navigation } from './navigation.tsx';
import type { Overlay } from './overlays.tsx';
import s from './shell.module.css';

const firstRetryMs = 700;
const retryMs = 3000;

const HeaderMenus = later(() => import('./header-menus.tsx'), 'HeaderMenus');
const Overlays = later(() => firstInput.then(() => import('./overlays.tsx')), 'Overlays');

export function Shell() {
  const [overlay, setOverlay] = useState<Overlay | null>(null);
  usePresence();
  useLoadAhead();
  useEffect(followOtherWindows, []);
  useKeys(setOverlay);
  useOnNavigation(() => setOverlay((shown) => (shown === 'navigation' ? null : shown)));
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
              onClick={() => startTransition(() => setOverlay('navigation'))}
            />
            <Button
              className={s.search}
              icon={<Search />}
              aria-keyshortcuts="Control+K Meta+K"
              onClick={() => startTransition(() => setOverlay('commands'))}
            >
              <span>Go to…</span>
              <kbd>{commandKey()} K</kbd>
            </Button>
            <div className={s.right}>
              <AfterPage>
                <HeaderMenus />
              </AfterPage>
            </div>
          </header>
          <OfflineBar />
          <main id="main" tabIndex={-1} className={s.main}>
            <Outlet />
          </main>
        </div>
      </div>
      <AfterPage wanted={overlay !== null}>
        <Overlays shown={overlay} onShow={setOverlay} />
      </AfterPage>
    </CSPProvider>
  );
}

/** What no page waits for: on a slow line its code would arrive in place of the page's data. */
function AfterPage({ wanted, children }: { readonly wanted?: boolean; readonly children: ReactNode }) {
  const [isDue, setDue] = useState(false);
  const fetching = useIsFetching();
  useEffect(() => {
    if (fetching === 0) setDue(true);
  }, [fetching]);
  return (isDue || wanted) && <Suspense>{children}</Suspense>;
}

/** Moves the focus only: the router would treat the fragment as a navigation. */
const skip = (event: { preventDefault: () => void }): void => {
  event.preventDefault();
  document.getElementById('main')?.focus();
};

const useKeys = (setOverlay: Dispatch<SetStateAction<Overlay | null>>): void => {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { key, metaKey, ctrlKey, altKey } = event;
      if (key.toLowerCase() !== 'k' || !(metaKey || ctrlKey) || altKey) return;
      event.preventDefault();
      // The browser first paints the answer to the key.
      startTransition(() => setOverlay((shown) => (shown === 'commands' ? null : 'commands')));
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [setOverlay]);
};

const useOnNavigation = (run: () => void): void => {
  const router = useRouter();
  // biome-ignore lint/correctness/useExhaustiveDependencies: one subscription for the life of the shell
  useEffect(() => router.subscribe('onBeforeNavigate', run), [router]);
};

/** The answer to the first input comes before. */
const loadAheadMs = 2000;

/** Once a person is there, so that each page opens while the server is away. Browsers that save data load pages when opened. */
const useLoadAhead = (): void => {
  const router = useRouter();
  useEffect(() => {
    if ((navigator as { connection?: { saveData?: boolean } }).connection?.saveData) return;
    const load = async (): Promise<void> => {
      for (const { options } of Object.values(router.routesById)) {
        // Its first use shows a failure.
        await (options.component as { preload?: () => Promise<void> })?.preload?.().catch(() => {});
      }
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    void firstInput.then(() => {
      timer = setTimeout(() => void load(), loadAheadMs);
    });
    return () => clearTimeout(timer);
  }, [router]);
};

const longestPollMs = 5 * 60_000;

/** Keeps the session alive while someone uses a page that sends no requests, and notices its end. */
const usePresence = (): void => {
  const session = useSession();
  const everyMs = Math.min(session.session.idleTimeoutMs / 4, longestPollMs);
  useQuery({ ...sessionQuery, refetchInterval: everyMs, enabled: session.session.id > 0 });
};

/** Windows share the session cookie: after a switch in one window, the others act in the new company. */
const followOtherWindows = (): (() => void) => {
  const changed = ({ key, oldValue, newValue }: StorageEvent): void => {
    if (key === hintKey && oldValue !== null && newValue !== null && oldValue !== newValue)
      location.assign('/portal/');
  };
  addEventListener('storage', changed);
  return () => removeEventListener('storage', changed);
};

function OfflineBar() {
  const { reachable, lastAnswerMs } = useReachability();
  const router = useRouter();
  useEffect(() => {
    if (reachable) return;
    const ask = async (): Promise<void> => {
      if (!(await serverAnswers())) return;
      void queryClient.invalidateQueries();
      void router.invalidate();
    };
    // The first soon, because most interruptions are short.
    const first = setTimeout(() => void ask(), firstRetryMs);
    const timer = setInterval(() => void ask(), retryMs);
    addEventListener('online', ask);
    return () => {
      clearTimeout(first);
      clearInterval(timer);
      removeEventListener('online', ask);
    };
  }, [reachable, router]);
  return (
    <div role="status">
      {!reachable && (
        <p className={s.offline}>
          <WifiOff size={16} />
          <span>
            The server cannot be reached. You see data from{' '}
            <TimeAgo time={new Date(lastAnswerMs).toISOString()} />; the page updates when the server answers
            again.
          </span>
        </p>
      )}
    </div>
  );
}
