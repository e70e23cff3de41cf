import { lazy, type ReactNode } from 'react';

/**
 * A part whose code comes when it is first shown. After a release the files of the one before are gone: then the
 * page is loaded anew, once, as the router does with pages; what fails again is shown.
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
        // The page goes; nothing more is to be seen of it.
        await new Promise(() => {});
      }
      throw error;
    }
  });

/** Whether it is the code of a part that could not be had, as each of the browsers says it. */
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
