import { useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

/**
 * After a navigation, moves the focus to the new page's heading and announces it to screen readers. Waits for pages
 * whose code is still loading.
 */
export function Announcer() {
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
