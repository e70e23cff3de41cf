import { useEffect } from 'react';

/** Longer than the closing animation of a dialog. */
const goneMs = 300;

/**
 * Moves the focus to the page's heading if the element that had it before the dialog is gone, such as a menu item or
 * a deleted row. Keyboard users never lose their place.
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
