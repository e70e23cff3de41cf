import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { toastError } from '../ui/toast.ts';
import { call, useMutation } from './client.ts';
import { leave } from './session.ts';

export const useSignOut = () => {
  const router = useRouter();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => call('signOut', {}),
    onSuccess: () => leave(queryClient, router, 'signed-out'),
    onError: toastError,
  });
};
