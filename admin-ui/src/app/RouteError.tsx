import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { Failed } from '../ui/States.tsx';

/** What a route shows that could not even begin, as when the server cannot be reached. */
export function RouteError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
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
