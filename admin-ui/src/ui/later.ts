import { lazyRouteComponent } from '@tanstack/react-router';
import { serverAnswers } from './reachability.ts';

const againMs = 3000;

/** What no page waits for, such as a menu. While the server cannot be reached, the page stays without it. */
export const later = <Module extends Record<string, unknown>, Name extends keyof Module & string>(
  load: () => Promise<Module>,
  name: Name,
) => lazyRouteComponent(() => loadWhenReachable(load), name);

const loadWhenReachable = async <Module>(load: () => Promise<Module>): Promise<Module> => {
  try {
    return await load();
  } catch (error) {
    if (await serverAnswers()) throw error;
    await new Promise((resolve) => setTimeout(resolve, againMs));
    return loadWhenReachable(load);
  }
};
