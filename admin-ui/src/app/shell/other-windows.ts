import { hintKey } from '../session.ts';

/**
 * Reloads the page when another window of this browser switches companies. All windows share the session cookie, so
 * this one would show the old company and act in the new one.
 */
export const followOtherWindows = (): (() => void) => {
  const changed = ({ key, oldValue, newValue }: StorageEvent): void => {
    if (key === hintKey && oldValue !== null && newValue !== null && oldValue !== newValue)
      location.assign('/portal/');
  };
  addEventListener('storage', changed);
  return () => removeEventListener('storage', changed);
};
