import { lazy, type ReactNode } from 'react';

/**
 * A component whose code loads on first use. A new release removes the old files: then the page reloads once, as the
 * router does for pages. A second failure is shown.
 */
export const lazyPart = <Module, Props extends object>(
  load: () => Promise<Module>,
  pick: (module: Module) => (props: Props) => ReactNode,
) =>
  lazy(async () => {
    try {
      return { default: pick(await load()) };
    } catch (error) {
      if (isOutdated(error) && isFirstTime(error)) {
        location.reload();
        // The page is reloading; never resolve.
        await new Promise(() => {});
      }
      throw error;
    }
  });

/** Whether a module failed to load, by each browser's message. */
export const isOutdated = (error: unknown): error is Error =>
  error instanceof Error &&
  /dynamically imported module|Importing a module script failed/i.test(error.message);

const isFirstTime = ({ message }: Error): boolean => {
  const key = `causeway.reloaded ${message}`;
  try {
    if (sessionStorage.getItem(key) !== null) return false;
    sessionStorage.setItem(key, '1');
    return true;
  } catch {
    return false;
  }
};
