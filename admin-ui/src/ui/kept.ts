/**
 * A text that this browser keeps, or this tab if it is in the `sessionStorage`. Without storage, or beyond its quota, it is
 * forgotten with the page.
 */
export const kept = (key: string, storage: 'localStorage' | 'sessionStorage' = 'localStorage') => ({
  read: (withoutStorage: string | null = null): string | null => {
    try {
      return window[storage].getItem(key);
    } catch {
      return withoutStorage;
    }
  },
  write: (value: string | null): void => {
    try {
      if (value === null) window[storage].removeItem(key);
      else window[storage].setItem(key, value);
    } catch {
      // Nothing is kept.
    }
  },
});
