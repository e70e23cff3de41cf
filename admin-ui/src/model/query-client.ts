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

/** An import makes hundreds of changes: with all queries of a page after each, it would reach the limit of requests. */
const atOnce = 10;
const withinMs = 10_000;
const apartMs = 1_000;
let shownMs: readonly number[] = [];
let isDue = false;

/**
 * After a change, everything that is shown is asked for again, and everything else once it is shown. It happens at once, or the page
 * would show what was before; only after ten changes in ten seconds, once a second.
 */
export const showChange = (): void => {
  const show = (): void => {
    isDue = false;
    shownMs = [...shownMs, performance.now()].slice(-atOnce);
    void queryClient.invalidateQueries();
  };
  const tenthMs = shownMs.at(-atOnce) ?? Number.NEGATIVE_INFINITY;
  if (tenthMs < performance.now() - withinMs) {
    show();
    return;
  }
  void queryClient.invalidateQueries({ refetchType: 'none' });
  if (!isDue) setTimeout(show, apartMs);
  isDue = true;
};
