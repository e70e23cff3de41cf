import { useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from '../api/client.ts';
import { sessionQuery, useSession } from './session.ts';

const longestMs = 5 * 60_000;

/**
 * Asks for the session now and then: somebody who works with a page that asks for nothing is seen to be there,
 * and a session that has ended is noticed while nobody is.
 */
export const usePresence = (): void => {
  const session = useSession();
  const everyMs = Math.min(session.session.idleTimeoutMs / 4, longestMs);
  const queryClient = useQueryClient();
  useQuery({
    queryKey: ['presence', session.session.id],
    queryFn: async ({ signal }) => {
      const facts = await call('getSession', {}, signal);
      queryClient.setQueryData(sessionQuery.queryKey, facts);
      return facts;
    },
    initialData: session,
    staleTime: everyMs,
    refetchInterval: everyMs,
    enabled: session.session.id > 0,
  });
};
