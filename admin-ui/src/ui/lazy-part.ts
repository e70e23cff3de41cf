import { lazy, type ReactNode } from 'react';
import { ApiError } from '../errors.ts';
import { serverAnswers, untilServerAnswers } from '../reachability.ts';

const parts = new Set<() => Promise<unknown>>();

/**
 * A component whose code loads on first use. A new release removes the old files: then the page reloads once, as the
 * router does for pages. A second failure is shown.
 */
export const lazyPart = <Module, Props extends object>(
  load: () => Promise<Module>,
  pick: (module: Module) => (props: Props) => ReactNode,
) => {
  parts.add(load);
  return lazy(async () => {
    try {
      return { default: pick(await loadModule(load)) };
    } catch (error) {
      if (error instanceof ApiError) {
        // The page around it stays; it appears when it can.
        await untilServerAnswers();
        return { default: pick(await load()) };
      }
      if (isOutdated(error) && isFirstTime(error)) {
        location.reload();
        // The page is reloading; never resolve.
        await new Promise(() => {});
      }
      throw error;
    }
  });
};

/** Loads the code of the parts that are known so far. Failures are left to the first use. */
export const loadParts = async (): Promise<void> => {
  for (const load of parts) await load().catch(() => {});
};

/** Loads a module. Throws `ApiError` if the server cannot be reached, because a reload would then lose the page. */
export const loadModule = async <Module>(load: () => Promise<Module>): Promise<Module> => {
  try {
    return await load();
  } catch (error) {
    if (isOutdated(error) && !(await serverAnswers()))
      throw new ApiError({
        status: 0,
        message: 'The server could not be reached. The page opens as soon as it answers again.',
      });
    throw error;
  }
};

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
