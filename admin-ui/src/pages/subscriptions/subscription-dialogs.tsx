import { useNavigate } from '@tanstack/react-router';
import { Pause, Play, Power, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { call, useMutation } from '../../model/client.ts';
import { useSubscriptionCache } from '../../model/queries.ts';
import { useRefusal } from '../../model/session.ts';
import { nameOf, type Subscription } from '../../model/subscriptions.ts';
import { ConfirmDialog, Dialog, SecretDialog } from '../../ui/dialog.tsx';
import { fieldError } from '../../ui/errors.ts';
import { Field, Fieldset, Form, Radio, Select } from '../../ui/form.tsx';
import { plural, span } from '../../ui/format.ts';
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
  const [secret, setSecret] = useState<string | null>(null);
  if (secret !== null) {
    return (
      <SecretDialog
        title="New signing secret"
        name="signing secret"
        value={secret}
        onClose={() => setSecret(null)}
      />
    );
  }
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Rotate the signing secret"
      description="Rotate it if it may have leaked, or on a schedule."
    >
      <RotateForm
        subscription={subscription}
        onClose={onClose}
        onDone={(value) => {
          setSecret(value);
          onClose();
        }}
      />
    </Dialog>
  );
}

interface RotateFormProps extends Omit<SubscriptionDialogProps, 'open'> {
  readonly onDone: (secret: string) => void;
}

const overlaps = () => [1, 6, 24, 48, 72].map((hours) => ({ value: hours, label: span(hours * 3_600_000) }));

function RotateForm({ subscription, onClose, onDone }: RotateFormProps) {
  const overlapUntil = subscription.previousSecretUntilUtc;
  const [overlap, setOverlap] = useState(overlapUntil === null);
  const [hours, setHours] = useState(24);
  const cache = useSubscriptionCache();
  const rotate = useMutation({
    mutationFn: () =>
      call('rotatePortalSubscriptionSecret', {
        params: { id: subscription.id },
        body: { overlapHours: overlap ? hours : 0 },
      }),
    gcTime: 0,
    onSuccess: ({ signingSecret, ...changed }) => {
      cache.changed(changed);
      onDone(signingSecret);
    },
  });
  return (
    <Form
      mutation={rotate}
      fields={['overlapHours']}
      submit="Rotate secret"
      danger={!overlap}
      onCancel={onClose}
    >
      {overlapUntil !== null && (
        <Notice tone="info">
          The previous secret is valid until <Moment time={overlapUntil} />. Rotate after that to get another
          overlap, or end all earlier secrets now.
        </Notice>
      )}
      <Fieldset legend="The old secret">
        {overlapUntil === null && (
          <Radio
            name="overlap"
            checked={overlap}
            onChange={() => setOverlap(true)}
            label="Keeps working for a while"
            description="Deliveries carry both signatures, so nothing fails while you update your receiver."
          />
        )}
        <Radio
          name="overlap"
          checked={!overlap}
          onChange={() => setOverlap(false)}
          label="Stops working at once"
          description="Choose this if it leaked. Your receiver refuses deliveries until it has the new secret."
        />
      </Fieldset>
      {overlap && (
        <Field label="Sign with both secrets for" error={fieldError(rotate.error, 'overlapHours')}>
          <Select value={hours} options={overlaps()} onValue={(value) => setHours(Number(value))} />
        </Field>
      )}
    </Form>
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
