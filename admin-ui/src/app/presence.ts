import { useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from '../api/client.ts';
import { sessionQuery, useSession } from './session.ts';

const longestMs = 5 * 60_000;

/**
 * Polls the session. Keeps it alive while someone uses a page that sends no requests, and notices when it ended.
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
