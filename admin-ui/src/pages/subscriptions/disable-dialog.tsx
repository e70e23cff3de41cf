import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Stack } from '../../ui/layout.tsx';
import { toast } from '../../ui/toast.ts';
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
      toast(`“${nameOf(changed)}” disabled`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open={open && subscription.enabled}
      onClose={onClose}
      title={`Disable “${nameOf(subscription)}”?`}
      confirm="Disable subscription"
      mutation={disable}
    >
      <Stack gap="s">
        <p>Pending deliveries are held until you release or discard them.</p>
        <p>New events are not delivered; you can replay them when you enable the subscription again.</p>
      </Stack>
    </ConfirmDialog>
  );
}
