import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from '../errors.ts';

/** `onError` hears of every failed call. Only what may pass by itself is tried again, and only when reading. */
export const createQueryClient = (onError: (error: Error) => void): QueryClient =>
  new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: (failures, error) => failures < 2 && mayPass(error),
        retryDelay: (failures) => 400 * 2 ** failures,
      },
    },
  });

const mayPass = (error: Error): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status === 503 || error.status === 504);
