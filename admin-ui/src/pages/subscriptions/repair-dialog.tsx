import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import { errorText } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Row, Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/notice.tsx';
import { StatusBadge } from '../deliveries/attempt/attempt-view.tsx';
import { causeOf } from '../deliveries/attempt/causes.ts';
import { HeldStep } from './held-step.tsx';
import { MissedStep } from './missed-step.tsx';
import { RepairStep } from './repair-step.tsx';
import { nameOf, type Subscription } from './state.ts';
import { useSubscriptionCache } from './use-subscription-cache.ts';

interface RepairDialogProps {
  readonly open: boolean;
  readonly subscription: Subscription;
  readonly onClose: () => void;
}

/** Enables a disabled subscription: test it, enable it, then handle held and missed deliveries. */
export function RepairDialog({ open, subscription, onClose }: RepairDialogProps) {
  // While it is open, enabling does not change what the dialog is for.
  const [wasEnabled, setWasEnabled] = useState(subscription.enabled);
  if (!open && wasEnabled !== subscription.enabled) setWasEnabled(subscription.enabled);
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={
        wasEnabled
          ? `Held and missed events of “${nameOf(subscription)}”`
          : `Enable “${nameOf(subscription)}”`
      }
      description={wasEnabled ? undefined : 'Steps 1 and 3 are optional.'}
    >
      {open && <Steps subscription={subscription} onClose={onClose} />}
    </Dialog>
  );
}

function Steps({ subscription, onClose }: Omit<RepairDialogProps, 'open'>) {
  // Enabling clears this time, which the missed events start from; replaying them clears the other.
  const [offSince] = useState(subscription.missed?.sinceUtc ?? subscription.disabledUtc);
  const [heldDone, setHeldDone] = useState(false);
  const [missedDone, setMissedDone] = useState(offSince === null);
  return (
    <Stack gap="l">
      <ol>
        <TestStep subscription={subscription} />
        <EnableStep subscription={subscription} />
        <RepairStep
          number={3}
          title="Handle held and missed events"
          waiting={!subscription.enabled}
          done={subscription.enabled && heldDone && missedDone}
        >
          <Stack>
            <HeldStep subscriptionId={subscription.id} onDone={setHeldDone} />
            {offSince !== null && (
              <MissedStep subscriptionId={subscription.id} since={offSince} onDone={setMissedDone} />
            )}
          </Stack>
        </RepairStep>
      </ol>
      <Row justify="flex-end">
        <Button variant={subscription.enabled ? 'primary' : 'secondary'} onClick={onClose}>
          {subscription.enabled ? 'Done' : 'Close'}
        </Button>
      </Row>
    </Stack>
  );
}

function TestStep({ subscription }: { readonly subscription: Subscription }) {
  const test = useMutation({
    mutationFn: () => call('testPortalSubscription', { params: { id: subscription.id }, body: {} }),
  });
  const cause = test.data && causeOf(test.data);
  return (
    <RepairStep number={1} title="Test the endpoint" done={test.data?.success ?? false}>
      <Stack gap="s">
        <Row>
          <Button size="s" pending={test.isPending} onClick={() => test.mutate()}>
            Send test delivery
          </Button>
          {test.data && <StatusBadge attempt={test.data} />}
          {test.data?.success && <span>It works.</span>}
        </Row>
        {cause && (
          <Notice tone="bad" title={cause.title}>
            {cause.advice}
          </Notice>
        )}
        {test.isError && <Notice tone="bad">{errorText(test.error)}</Notice>}
      </Stack>
    </RepairStep>
  );
}

function EnableStep({ subscription }: { readonly subscription: Subscription }) {
  const cache = useSubscriptionCache();
  const enable = useMutation({
    mutationFn: () => call('enablePortalSubscription', { params: { id: subscription.id } }),
    onSuccess: cache.changed,
  });
  return (
    <RepairStep number={2} title="Enable it" done={subscription.enabled}>
      {subscription.enabled ? (
        <p>Enabled. New events are delivered.</p>
      ) : (
        <Stack gap="s">
          {subscription.verification !== null && (
            <p>This sends a verification challenge, which the receiver must echo.</p>
          )}
          <div>
            <Button size="s" variant="primary" pending={enable.isPending} onClick={() => enable.mutate()}>
              Enable subscription{' '}
            </Button>
          </div>
          {enable.isError && <Notice tone="bad">{errorText(enable.error)}</Notice>}
        </Stack>
      )}
    </RepairStep>
  );
}
