import { useNavigate } from '@tanstack/react-router';
import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { plural } from '../../ui/format.ts';
import { Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/notice.tsx';
import { toast } from '../../ui/toast.ts';
import { nameOf, type Subscription } from './state.ts';
import { useSubscriptionCache } from './use-subscription-cache.ts';

interface DeleteDialogProps {
  readonly open: boolean;
  readonly subscription: Subscription;
  readonly onClose: () => void;
}

export function DeleteDialog({ open, subscription, onClose }: DeleteDialogProps) {
  const { id, health, managedBy } = subscription;
  const cache = useSubscriptionCache();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => call('deletePortalSubscription', { params: { id } }),
    onSuccess: async () => {
      await navigate({ to: '/subscriptions' });
      cache.deleted(id);
      toast(`“${nameOf(subscription)}” deleted`);
    },
  });
  const traffic = health.succeeded24h + health.failed24h;
  const pending = health.waiting + health.held;
  const busy = traffic > 0 || pending > 0 || health.lastSuccessUtc !== null;
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title={`Delete “${nameOf(subscription)}”?`}
      confirm="Delete subscription"
      danger
      typed={busy ? 'delete' : undefined}
      mutation={remove}
    >
      <Stack gap="s">
        {busy && (
          <Notice tone="warn">
            {traffic > 0
              ? `It had ${plural(traffic, 'attempt')} in the last 24 hours.`
              : 'It has received deliveries before.'}
            {pending > 0 &&
              ` ${plural(pending, 'delivery', 'deliveries')} that are not sent yet will be discarded.`}
          </Notice>
        )}
        {managedBy !== null && <p>{managedBy} created this subscription and may create it again.</p>}
        <p>Nothing more is sent to this URL. Past deliveries stay in the log. This cannot be undone.</p>
      </Stack>
    </ConfirmDialog>
  );
}
