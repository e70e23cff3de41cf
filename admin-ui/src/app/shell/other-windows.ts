import { hintKey } from '../session.ts';

/**
 * All windows of a browser share the session's cookie. Where another one switched to another company, this one would show
 * the old company and act in the new: it starts again.
 */
export const followOtherWindows = (): (() => void) => {
  const changed = ({ key, oldValue, newValue }: StorageEvent): void => {
    if (key === hintKey && oldValue !== null && newValue !== null && oldValue !== newValue)
      location.assign('/portal/');
  };
  addEventListener('storage', changed);
  return () => removeEventListener('storage', changed);
};
