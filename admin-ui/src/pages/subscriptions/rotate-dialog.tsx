import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import { fieldError } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { Fieldset, Radio } from '../../ui/choice.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
import { Moment } from '../../ui/time-ago.tsx';
import type { Subscription } from './state.ts';
import { useSubscriptionCache } from './use-subscription-cache.ts';

interface RotateDialogProps {
  readonly open: boolean;
  readonly subscription: Subscription;
  readonly onClose: () => void;
}

/** Rotates the signing secret, with or without an overlap. */
export function RotateDialog({ open, subscription, onClose }: RotateDialogProps) {
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

interface RotateFormProps {
  readonly subscription: Subscription;
  readonly onClose: () => void;
  readonly onDone: (secret: string) => void;
}

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
      secondary={<Button onClick={onClose}>Cancel</Button>}
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
          <Select value={hours} onChange={(event) => setHours(Number(event.target.value))}>
            <option value={1}>1 hour</option>
            <option value={6}>6 hours</option>
            <option value={24}>24 hours</option>
            <option value={48}>2 days</option>
            <option value={72}>3 days</option>
          </Select>
        </Field>
      )}
    </Form>
  );
}
