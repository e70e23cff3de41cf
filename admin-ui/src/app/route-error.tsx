import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { Failed } from '../ui/failed.tsx';
import { isOutdated } from '../ui/lazy-part.ts';

/** Shown when a route fails to load, for example while the server is unreachable. */
export function RouteError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  if (isOutdated(error)) return <Failed error={outdated} retry={() => location.reload()} />;
  return (
    <Failed
      error={error}
      retry={() => {
        reset();
        void router.invalidate();
      }}
    />
  );
}

/** The page was already reloaded once (by `lazyPart`, or by the router). */
const outdated = 'The portal may be updating, or unreachable. Try again in a moment.';
