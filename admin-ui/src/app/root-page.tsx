import { Link, Outlet, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Page } from '../ui/layout.tsx';
import { Empty } from '../ui/states.tsx';

export function RootPage() {
  return (
    <>
      <Outlet />
      <Announcer />
    </>
  );
}

/** Moves the focus to the new page's heading and announces it, once the page's code is loaded. */
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

/** In the frame of the signed-in pages, so that the navigation stays. */
export function NotFound() {
  return (
    <Page title="Page not found">
      <Empty title="Nothing is at this address" action={<Link to="/">Go to the overview</Link>}>
        Check the URL. What it showed may have been deleted.
      </Empty>
    </Page>
  );
}
