import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useState } from 'react';
import { createQueryClient } from './query-client.ts';
import { createPortalRouter } from './router.tsx';
import { isSignedOut, leave } from './session.ts';

/** The whole portal: one cache, one router, and the way out when a session has ended. */
export function App() {
  const [{ queryClient, router }] = useState(() => {
    const queryClient = createQueryClient((error) => {
      if (isSignedOut(error)) leave(queryClient, router, 'ended');
    });
    const router = createPortalRouter(queryClient);
    return { queryClient, router };
  });
  return (
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  );
}
