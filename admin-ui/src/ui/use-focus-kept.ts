import { useEffect } from 'react';

/** Longer than a dialog takes to go. */
const goneMs = 300;

/**
 * When what was open closes, the focus goes back to where it was before. Where that is gone too, as an entry of a
 * menu or a deleted row is, this moves it to the page's heading: a person at the keyboard is never nowhere.
 */
export const useFocusKept = (open: boolean): void => {
  useEffect(() => {
    if (!open) return;
    return () => {
      setTimeout(() => {
        if (document.activeElement !== document.body) return;
        document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
      }, goneMs);
    };
  }, [open]);
};
