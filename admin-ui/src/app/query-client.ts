import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from '../errors.ts';

/** Calls `onError` for every failed call. Retries only reads, and only after transient errors. */
export const createQueryClient = (onError: (error: Error) => void): QueryClient =>
  new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      // A browser that believes to be offline asks too: the failure is shown, and the belief may be wrong.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        staleTime: 10_000,
        retry: (failures, error) => failures < 2 && isTransient(error),
        retryDelay: (failures) => 400 * 2 ** failures,
      },
    },
  });

const isTransient = (error: Error): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status === 503 || error.status === 504);
