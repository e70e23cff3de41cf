import { hashKey, type QueryKey } from '@tanstack/react-query';
import { lazyRouteComponent } from '@tanstack/react-router';
import { ApiError } from '../ui/errors.ts';
import { serverAnswers } from '../ui/reachability.ts';
import { queryClient } from './query-client.ts';

/** A page whose code loads when it is first opened, or ahead of that. The router reloads once if a release removed it. */
export const lazyPage = <Module extends Record<string, unknown>, Name extends keyof Module & string>(
  load: () => Promise<Module>,
  name: Name,
) => lazyRouteComponent(() => loadModule(load), name);

/** Answers that come this soon are shown with the page; with later ones, its skeleton is shown first. */
const soonMs = 150;

/** Lets the queries of a page begin beside its code. @returns which, for `Page`, which waits for their first answers */
export const load = async (
  ...queries: readonly ({ readonly queryKey: QueryKey } | false)[]
): Promise<readonly string[]> => {
  const asked = queries.filter((query) => query !== false);
  const answers = Promise.all(asked.map((query) => queryClient.prefetchQuery(query)));
  await Promise.race([answers, new Promise((resolve) => setTimeout(resolve, soonMs))]);
  return asked.map(({ queryKey }) => hashKey(queryKey));
};

/** Throws `ApiError` if the server cannot be reached, because a reload would then lose the page. */
const loadModule = async <Module>(load: () => Promise<Module>): Promise<Module> => {
  try {
    return await load();
  } catch (error) {
    if (!isModuleMissing(error) || (await serverAnswers())) throw error;
    throw new ApiError({
      status: 0,
      message: 'The server could not be reached. The page opens as soon as it answers again.',
    });
  }
};

/** Whether a module failed to load, by each browser's message. */
export const isModuleMissing = (error: unknown): boolean =>
  error instanceof Error &&
  /dynamically imported module|Importing a module script failed/i.test(error.message);
