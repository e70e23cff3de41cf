import { useNavigate } from '@tanstack/react-router';
import { Pause, Play, Power, Trash2 } from 'lucide-react';
import { call } from '../../model/client.ts';
import { subscriptionQuery } from '../../model/queries.ts';
import { queryClient } from '../../model/query-client.ts';
import { RotateSecret } from '../../model/rotate-secret.tsx';
import { useRefusal } from '../../model/session.ts';
import { nameOf, type Subscription } from '../../model/subscriptions.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import type { Shown } from '../../ui/dialog-button.tsx';
import { plural } from '../../ui/format.ts';
import type { MenuProps } from '../../ui/menu-popup.tsx';
import { useAct } from '../../ui/mutation.ts';
import { Notice } from '../../ui/states.tsx';
import { toastError } from '../../ui/toast.ts';
import { Moment } from '../../ui/values.tsx';
import { pause } from './subscription-rules.tsx';

export interface SubscriptionDialogProps extends Shown {
  readonly subscription: Subscription;
}

export function RotateDialog({ subscription, ...shown }: SubscriptionDialogProps) {
  const { id, previousSecretUntilUtc: untilUtc } = subscription;
  return (
    <RotateSecret
      {...shown}
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
        const params = { params: { id }, body: { overlapHours } };
        return (await call('rotatePortalSubscriptionSecret', params)).signingSecret;
      }}
      secret={{ title: 'New signing secret', name: 'signing secret' }}
    />
  );
}

export function DisableDialog({ open, subscription, onClose }: SubscriptionDialogProps) {
  const name = nameOf(subscription);
  return (
    <ConfirmDialog
      open={open && subscription.enabled}
      onClose={onClose}
      title={`Disable “${name}”?`}
      confirm="Disable subscription"
      act={() =>
        call('updatePortalSubscription', { params: { id: subscription.id }, body: { enabled: false } })
      }
      done={`“${name}” disabled`}
    >
      <p>Pending deliveries are held until you release or discard them.</p>
      <p>New events are not delivered. When you enable the subscription again, they can be.</p>
    </ConfirmDialog>
  );
}

export function DeleteDialog({ subscription, ...shown }: SubscriptionDialogProps) {
  const { id, health, managedBy } = subscription;
  const navigate = useNavigate();
  const name = nameOf(subscription);
  const leave = async (): Promise<void> => {
    void queryClient.invalidateQueries({ refetchType: 'none' });
    await navigate({ to: '/subscriptions' });
    queryClient.removeQueries(subscriptionQuery(id));
    void queryClient.invalidateQueries();
  };
  const traffic = health.succeeded24h + health.failed24h;
  const pending = health.waiting + health.held;
  const busy = traffic > 0 || pending > 0 || health.lastSuccessUtc !== null;
  return (
    <ConfirmDialog
      {...shown}
      title={`Delete “${name}”?`}
      confirm="Delete subscription"
      danger
      typed={busy ? 'delete' : undefined}
      act={() => call('deletePortalSubscription', { params: { id } })}
      done={`“${name}” deleted`}
      onDone={leave}
    >
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
    </ConfirmDialog>
  );
}

export const useDialogActions = (subscription: Subscription): MenuProps['actions'] => {
  const navigate = useNavigate();
  const disabledReason = useRefusal('developer');
  const { id, enabled, paused = false } = subscription;
  const open = (dialog: 'delete' | 'disable') => () =>
    void navigate({ to: '/subscriptions/$id', params: { id }, search: { dialog } });
  const pausing = useAct(pause(subscription, !paused), { onError: toastError });
  const enabling = useAct(
    {
      act: () => call('updatePortalSubscription', { params: { id }, body: { enabled: true } }),
      done: `“${nameOf(subscription)}” enabled`,
    },
    { onError: toastError },
  );
  return [
    {
      label: paused ? 'Resume deliveries' : 'Pause deliveries',
      icon: paused ? <Play /> : <Pause />,
      disabledReason,
      onSelect: () => pausing.mutate(),
    },
    {
      label: enabled ? 'Disable…' : 'Enable',
      icon: <Power />,
      disabledReason,
      onSelect: enabled ? open('disable') : () => enabling.mutate(),
    },
    'separator',
    { label: 'Delete…', icon: <Trash2 />, danger: true, disabledReason, onSelect: open('delete') },
  ];
};
