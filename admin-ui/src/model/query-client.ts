import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from '../ui/errors.ts';
import { forgetDraft } from '../ui/form-draft.ts';

declare module '@tanstack/react-query' {
  interface Register {
    mutationMeta: {
      /** The form whose draft is saved by it (`useDraft`). */
      readonly saves?: string;
    };
  }
}

export const failedForMs = 5000;

export const isTransient = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status === 503 || error.status === 504);

const queryCache = new QueryCache();
const mutationCache = new MutationCache({
  onSuccess: (_data, _input, _result, { meta }) => {
    if (meta?.saves !== undefined) forgetDraft(meta.saves);
  },
});

export const queryClient = new QueryClient({
  queryCache,
  mutationCache,
  defaultOptions: {
    // A browser that believes to be offline asks too: the failure is shown, and the belief may be wrong.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      // Results are passed on before all of them is read.
      notifyOnChangeProps: 'all',
      staleTime: 10_000,
      retry: (failures, error) => failures < 2 && isTransient(error),
      retryDelay: (failures) => 400 * 2 ** failures,
      // A part that appears does not ask again for what has just failed.
      retryOnMount: ({ state }) => Date.now() - state.errorUpdatedAt > failedForMs,
    },
  },
});

/** @param note is told of every error of a query or a mutation. */
export const onError = (note: (error: Error) => void): void => {
  queryCache.config.onError = note;
  mutationCache.config.onError = note;
};

/** Changes that follow one another are shown together. */
const gatherMs = 100;
/** An import makes hundreds of changes: with all queries of a page after each, it would reach the limit of requests. */
const apartMs = 1000;
let isDue = false;
let shownMs = Number.NEGATIVE_INFINITY;

/** After a change, everything that is shown is asked for again, and everything else once it is shown. */
export const showChange = (): void => {
  void queryClient.invalidateQueries({ refetchType: 'none' });
  if (isDue) return;
  isDue = true;
  const show = (): void => {
    isDue = false;
    shownMs = performance.now();
    void queryClient.invalidateQueries();
  };
  setTimeout(show, Math.max(gatherMs, shownMs + apartMs - performance.now()));
};
