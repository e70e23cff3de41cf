import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { Failed } from '../ui/failed.tsx';
import { isOutdated } from '../ui/lazy-part.ts';

/** What a route shows that could not even begin, as when the server cannot be reached. */
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

/** The page was loaded anew already (`lazyPart`, and the router for pages). */
const outdated =
  'The code of this page could not be had: the portal may be in the middle of an update, or out of reach.';
