import {
  type DefaultError,
  type UseMutationOptions,
  type UseMutationResult,
  useMutation as useQueryMutation,
} from '@tanstack/react-query';
import { useRef } from 'react';

/**
 * A mutation that ignores calls of `mutate` until the running one has ended. `isPending` cannot tell: it is that of the
 * last render, and a double click makes both calls before the next one.
 */
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
    // The result shows a failure.
    mutation.mutateAsync(...input).then(end, end);
  };
  return { ...mutation, mutate };
};
