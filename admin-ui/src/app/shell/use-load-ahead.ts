import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { loadParts } from '../../ui/lazy-part.ts';

/** After the first page has settled. */
const delayMs = 2000;

/**
 * Loads the code of all pages, one after another, so that each opens at once, also while the server cannot be reached.
 * Browsers that save data load each page when it is opened.
 */
export const useLoadAhead = (): void => {
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
    const timer = setTimeout(() => void load(), delayMs);
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [router]);
};
