import { lazyRouteComponent } from '@tanstack/react-router';
import { loadModule } from '../ui/lazy-part.ts';

/** A page whose code loads when it is first opened, or ahead of that. */
export const lazyPage = <Module extends Record<string, unknown>, Name extends keyof Module & string>(
  load: () => Promise<Module>,
  name: Name,
) => lazyRouteComponent(() => loadModule(load), name);
