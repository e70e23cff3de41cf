import { lazyRouteComponent } from '@tanstack/react-router';
import { serverAnswers } from './reachability.ts';

const againMs = 3000;

/** The first sign that a person uses the page. */
export const firstInput = new Promise<void>((resolve) => {
  for (const type of ['pointermove', 'pointerdown', 'click', 'keydown', 'wheel'])
    addEventListener(type, () => resolve(), { once: true, capture: true, passive: true });
});

/** A press and its release on two elements are no click, so nothing is replaced in between. */
let released = Promise.resolve();
addEventListener(
  'pointerdown',
  () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    released = promise;
    // The click comes after the release.
    for (const type of ['pointerup', 'pointercancel'])
      addEventListener(type, () => setTimeout(resolve), { once: true, capture: true });
  },
  { capture: true, passive: true },
);

/** What no page waits for, such as a dialog. While the server cannot be reached, the page stays without it. */
export const later = <Module extends Record<string, unknown>, Name extends keyof Module & string>(
  load: () => Promise<Module>,
  name: Name,
) =>
  lazyRouteComponent(async () => {
    const module = await loadWhenReachable(load);
    await released;
    return module;
  }, name);

const loadWhenReachable = async <Module>(load: () => Promise<Module>): Promise<Module> => {
  try {
    return await load();
  } catch (error) {
    if (await serverAnswers()) throw error;
    await new Promise((resolve) => setTimeout(resolve, againMs));
    return loadWhenReachable(load);
  }
};
