import { useNavigate, useParams } from '@tanstack/react-router';
import { Ban, Play, RotateCcw, Share2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { type Answer, call } from '../../model/client.ts';
import { deliveryParams, deliveryQuery, pathOf } from '../../model/deliveries.ts';
import { queryClient } from '../../model/query-client.ts';
import { useRefusal } from '../../model/session.ts';
import { SharedLinks } from '../../model/shared-links.tsx';
import { ActButton } from '../../ui/button.tsx';
import { ConfirmDialog, SecretFlow } from '../../ui/dialog.tsx';
import { DialogButton, type Shown } from '../../ui/dialog-button.tsx';
import { Field, Form, Select } from '../../ui/form.tsx';

const route = '/in/deliveries/$event/$subscription/$replay';

export function DeliveryActions({ delivery }: { readonly delivery: Answer<'getDelivery'> }) {
  const { state, attempts, subscription } = delivery;
  if (state === 'waiting')
    return (
      <>
        <CancelDelivery label="Cancel delivery" />
        <DeliveryAction
          what="retryDelivery"
          label="Retry now"
          done="Retry started"
          icon={<RotateCcw />}
          disabledReason={
            attempts === 0 ? 'It has not been attempted yet, and waits for its turn' : undefined
          }
        />
      </>
    );
  if (state === 'held')
    return (
      <>
        <CancelDelivery label="Discard delivery" />
        <DeliveryAction
          what="releaseDelivery"
          label="Release delivery"
          done="Delivery released"
          icon={<Play />}
          disabledReason={subscription?.enabled ? undefined : 'Its subscription is disabled; enable it first'}
        />
      </>
    );
  return (
    <DeliveryAction
      what="resendDelivery"
      label="Resend"
      done="Delivery resent"
      icon={<RotateCcw />}
      disabledReason={subscription ? undefined : 'Its subscription was deleted'}
    />
  );
}

interface DeliveryActionProps {
  readonly what: 'retryDelivery' | 'releaseDelivery' | 'resendDelivery';
  readonly label: string;
  readonly done: string;
  readonly icon: ReactNode;
  readonly disabledReason: string | undefined;
}

function DeliveryAction({ what, label, done, icon, disabledReason }: DeliveryActionProps) {
  const name = useParams({ from: route });
  const refusal = useRefusal('developer');
  const navigate = useNavigate();
  const show = (answer: Answer<typeof what>): void => {
    if (what !== 'resendDelivery') return;
    const { delivery } = answer as Answer<'resendDelivery'>;
    // A dispatcher may still have to write it: its page shows the answer until it can be read.
    const { subject = null, summary = '' } = queryClient.getQueryData(deliveryQuery(name).queryKey) ?? {};
    queryClient.setQueryData(deliveryQuery(pathOf(delivery)).queryKey, {
      ...{ ...delivery, subject, summary },
      ...{ history: [], others: [], wait: null },
    });
    void navigate({ to: '/deliveries/$event/$subscription/$replay', params: pathOf(delivery) });
  };
  return (
    <ActButton
      variant="primary"
      icon={icon}
      disabledReason={refusal ?? disabledReason}
      act={() => call(what, { params: deliveryParams(name) })}
      done={done}
      onDone={show}
    >
      {label}
    </ActButton>
  );
}

function CancelDelivery({ label }: { readonly label: string }) {
  const name = useParams({ from: route });
  return (
    <DialogButton
      name="cancel"
      icon={<Ban />}
      disabledReason={useRefusal('developer')}
      dialog={(shown) => (
        <ConfirmDialog
          {...shown}
          title={`${label}?`}
          confirm={label}
          danger
          act={() => call('cancelDelivery', { params: deliveryParams(name) })}
          done="Delivery discarded"
        >
          <p>No further attempt is made. The event stays in the event log, and you can resend it.</p>
        </ConfirmDialog>
      )}
    >
      {label}
    </DialogButton>
  );
}

/** A link for the receiver's support. */
export const ShareDelivery = ({ id }: { readonly id: string }) => (
  <DialogButton
    name="share"
    icon={<Share2 />}
    disabledReason={useRefusal('developer')}
    dialog={(shown) => <ShareDialog id={id} {...shown} />}
  >
    Share…
  </DialogButton>
);

const lifetimes = [
  { value: 1, label: '1 hour' },
  { value: 24, label: '1 day' },
  { value: 72, label: '3 days' },
  { value: 168, label: '7 days' },
];

function ShareDialog({ id, open, onClose }: Shown & { readonly id: string }) {
  const name = useParams({ from: route });
  const [hours, setHours] = useState(24);
  return (
    <SecretFlow
      open={open}
      onClose={onClose}
      title="Share delivery"
      description="Anyone with the link sees this one delivery and its attempts, without signing in. Personal data is masked, as for viewers."
      form={(onMade: (made: { readonly token: string }) => void) => (
        <Form
          act={() => call('shareDelivery', { params: deliveryParams(name), body: { hours } })}
          onDone={onMade}
          submit="Create link"
          onCancel={onClose}
        >
          <Field label="Works for">
            <Select value={hours} options={lifetimes} onValue={(value) => setHours(Number(value))} />
          </Field>
          <SharedLinks deliveryId={id} />
        </Form>
      )}
      secret={({ token }) => ({
        ...{ title: 'Link to the delivery', name: 'link' },
        value: `${location.origin}/portal/shared#${token}`,
      })}
    />
  );
}
