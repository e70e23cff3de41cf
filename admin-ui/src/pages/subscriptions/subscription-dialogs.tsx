import { useNavigate } from '@tanstack/react-router';
import { Pause, Play, Power, Trash2 } from 'lucide-react';
import { call, useMutation } from '../../model/client.ts';
import { useSubscriptionCache } from '../../model/queries.ts';
import { RotateSecret } from '../../model/rotate-secret.tsx';
import { useRefusal } from '../../model/session.ts';
import { nameOf, type Subscription } from '../../model/subscriptions.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { plural } from '../../ui/format.ts';
import { Stack } from '../../ui/layout.tsx';
import type { MenuProps } from '../../ui/menu-popup.tsx';
import { Notice } from '../../ui/states.tsx';
import { toast, toastError } from '../../ui/toast.ts';
import { Moment } from '../../ui/values.tsx';
import { usePause } from './subscription-rules.tsx';

export interface SubscriptionDialogProps {
  readonly open: boolean;
  readonly subscription: Subscription;
  readonly onClose: () => void;
}

export function RotateDialog({ open, subscription, onClose }: SubscriptionDialogProps) {
  const { id, previousSecretUntilUtc: untilUtc } = subscription;
  const cache = useSubscriptionCache();
  return (
    <RotateSecret
      open={open}
      onClose={onClose}
      title="Rotate the signing secret"
      description="Rotate it if it may have leaked, or on a schedule."
      legend="The old secret"
      keeps="Deliveries carry both signatures, so nothing fails while you update your receiver."
      ends="Choose this if it leaked. Your receiver refuses deliveries until it has the new secret."
      hoursLabel="Sign with both secrets for"
      hours={[1, 6, 24, 48, 72]}
      running={
        untilUtc !== null && (
          <>
            The previous secret is valid until <Moment time={untilUtc} />. Rotate after that to get another
            overlap, or end all earlier secrets now.
          </>
        )
      }
      submit="Rotate secret"
      rotate={async (overlapHours) => {
        const { signingSecret, ...changed } = await call('rotatePortalSubscriptionSecret', {
          ...{ params: { id }, body: { overlapHours } },
        });
        cache.changed(changed);
        return signingSecret;
      }}
      secret={{ title: 'New signing secret', name: 'signing secret' }}
    />
  );
}

export function DisableDialog({ open, subscription, onClose }: SubscriptionDialogProps) {
  const cache = useSubscriptionCache();
  const name = nameOf(subscription);
  const disable = useMutation({
    mutationFn: () => call('disablePortalSubscription', { params: { id: subscription.id } }),
    onSuccess: (changed) => {
      cache.changed(changed);
      toast(`“${name}” disabled`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open={open && subscription.enabled}
      onClose={onClose}
      title={`Disable “${name}”?`}
      confirm="Disable subscription"
      mutation={disable}
    >
      <Stack gap="s">
        <p>Pending deliveries are held until you release or discard them.</p>
        <p>New events are not delivered. When you enable the subscription again, they can be.</p>
      </Stack>
    </ConfirmDialog>
  );
}

export function DeleteDialog({ open, subscription, onClose }: SubscriptionDialogProps) {
  const { id, health, managedBy } = subscription;
  const cache = useSubscriptionCache();
  const navigate = useNavigate();
  const name = nameOf(subscription);
  const remove = useMutation({
    mutationFn: () => call('deletePortalSubscription', { params: { id } }),
    onSuccess: async () => {
      await navigate({ to: '/subscriptions' });
      cache.deleted(id);
      toast(`“${name}” deleted`);
    },
  });
  const traffic = health.succeeded24h + health.failed24h;
  const pending = health.waiting + health.held;
  const busy = traffic > 0 || pending > 0 || health.lastSuccessUtc !== null;
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title={`Delete “${name}”?`}
      confirm="Delete subscription"
      danger
      typed={busy ? 'delete' : undefined}
      mutation={remove}
    >
      <Stack gap="s">
        {busy && (
          <Notice tone="warn">
            {traffic > 0
              ? plural(
                  traffic,
                  'It had # attempt in the last 24 hours.',
                  'It had # attempts in the last 24 hours.',
                )
              : 'It has received deliveries before.'}{' '}
            {pending > 0 &&
              plural(
                pending,
                '# delivery that is not sent yet will be discarded.',
                '# deliveries that are not sent yet will be discarded.',
              )}
          </Notice>
        )}
        {managedBy !== null && <p>{managedBy} created this subscription and may create it again.</p>}
        <p>Nothing more is sent to this URL. Past deliveries stay in the log. This cannot be undone.</p>
      </Stack>
    </ConfirmDialog>
  );
}

export const useDialogActions = (subscription: Subscription): MenuProps['actions'] => {
  const navigate = useNavigate();
  const disabledReason = useRefusal('developer');
  const { id, enabled, paused = false } = subscription;
  const pause = usePause(subscription);
  const open = (dialog: 'delete' | 'disable') => () =>
    void navigate({ to: '/subscriptions/$id', params: { id }, search: { dialog } });
  const enable = useMutation({
    mutationFn: () => call('enablePortalSubscription', { params: { id } }),
    onSuccess: () => toast(`“${nameOf(subscription)}” enabled`),
    onError: toastError,
  });
  return [
    {
      label: paused ? 'Resume deliveries' : 'Pause deliveries',
      icon: paused ? <Play /> : <Pause />,
      disabledReason,
      onSelect: () => pause.mutate(!paused),
    },
    {
      label: enabled ? 'Disable…' : 'Enable',
      icon: <Power />,
      disabledReason,
      onSelect: enabled ? open('disable') : () => enable.mutate(),
    },
    'separator',
    { label: 'Delete…', icon: <Trash2 />, danger: true, disabledReason, onSelect: open('delete') },
  ];
};
