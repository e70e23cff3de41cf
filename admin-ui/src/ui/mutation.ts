import {
  type DefaultError,
  type UseMutationOptions,
  type UseMutationResult,
  useMutation as useQueryMutation,
} from '@tanstack/react-query';
import { useRef } from 'react';
import { toast } from './toast.ts';

/** Ignores calls of `mutate` while one runs: a double click makes two before `isPending` is rendered. */
export const useMutation = <Data, Failure = DefaultError, Input = void>(
  options: UseMutationOptions<Data, Failure, Input>,
): UseMutationResult<Data, Failure, Input> => {
  const running = useRef(false);
  const mutation = useQueryMutation(options);
  const mutate: typeof mutation.mutate = (...input) => {
    if (running.current) return;
    running.current = true;
    const end = (): void => {
      running.current = false;
    };
    mutation.mutateAsync(...input).then(end, end);
  };
  return { ...mutation, mutate };
};

/** What a button, a form or a question does. */
export interface Act<Result> {
  readonly act: () => Promise<Result>;
  /** What a toast says then. */
  readonly done?: string | undefined;
  readonly onDone?: ((result: Result) => unknown) | undefined;
}

/** The result may be a secret, and is not kept. */
export const useAct = <Result>(
  { act, done, onDone }: Act<Result>,
  options: Pick<UseMutationOptions, 'meta' | 'onError'> = {},
) =>
  useMutation({
    ...options,
    mutationFn: act,
    gcTime: 0,
    onSuccess: (result) => {
      if (done !== undefined) toast(done);
      return onDone?.(result);
    },
  });
