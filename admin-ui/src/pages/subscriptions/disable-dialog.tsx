import { useMutation } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Stack } from '../../ui/layout.tsx';
import { toast } from '../../ui/toast.tsx';
import { nameOf, type Subscription } from './state.ts';
import { useSubscriptionCache } from './use-subscription-cache.ts';

interface DisableDialogProps {
  readonly open: boolean;
  readonly subscription: Subscription;
  readonly onClose: () => void;
}

export function DisableDialog({ open, subscription, onClose }: DisableDialogProps) {
  const cache = useSubscriptionCache();
  const disable = useMutation({
    mutationFn: () => call('disablePortalSubscription', { params: { id: subscription.id } }),
    onSuccess: (changed) => {
      cache.changed(changed);
      toast(`“${nameOf(changed)}” is switched off`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open={open && subscription.enabled}
      onClose={onClose}
      title={`Switch “${nameOf(subscription)}” off?`}
      confirm="Switch off"
      pending={disable.isPending}
      error={disable.error}
      onConfirm={() => disable.mutate()}
    >
      <Stack gap="s">
        <p>What waits to be sent is held until you decide about it.</p>
        <p>What happens from now on is not sent; you can replay it when you switch it on again.</p>
      </Stack>
    </ConfirmDialog>
  );
}
