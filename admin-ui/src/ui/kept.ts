/** A choice that this browser keeps. A browser without storage forgets it with the page. */
export const kept = (key: string) => ({
  read: (withoutStorage: string | null = null): string | null => {
    try {
      return localStorage.getItem(key);
    } catch {
      return withoutStorage;
    }
  },
  write: (value: string | null): void => {
    try {
      if (value === null) localStorage.removeItem(key);
      else localStorage.setItem(key, value);
    } catch {
      // Nothing is kept.
    }
  },
});
