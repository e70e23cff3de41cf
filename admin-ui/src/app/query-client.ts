import { MutationCache, QueryCache, QueryClient, type QueryKey } from '@tanstack/react-query';
import { ApiError } from '../errors.ts';

declare module '@tanstack/react-query' {
  interface Register {
    mutationMeta: {
      /** Queries whose data is out of date after the mutation. */
      readonly invalidates?: readonly QueryKey[];
    };
  }
}

/** Calls `onError` for every failed call. Retries only reads, and only after transient errors. */
export const createQueryClient = (onError: (error: Error) => void): QueryClient => {
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({
      onError,
      onSuccess: (_data, _input, _result, { meta }) => {
        for (const queryKey of meta?.invalidates ?? []) void client.invalidateQueries({ queryKey });
      },
    }),
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
  return client;
};

const isTransient = (error: Error): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status === 503 || error.status === 504);
