import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Ban, Play, RotateCcw } from 'lucide-react';
import type { ReactNode } from 'react';
import { type Answer, call, useMutation } from '../../model/client.ts';
import { deliveryParams, deliveryQuery, pathOf } from '../../model/deliveries.ts';
import { useRefusal } from '../../model/session.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { toast, toastError } from '../../ui/toast.ts';

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
  return <ResendDelivery deleted={subscription === null} />;
}

interface DeliveryActionProps {
  readonly what: 'retryDelivery' | 'releaseDelivery';
  readonly label: string;
  readonly done: string;
  readonly icon: ReactNode;
  readonly disabledReason: string | undefined;
}

function DeliveryAction({ what, label, done, icon, disabledReason }: DeliveryActionProps) {
  const name = useParams({ from: route });
  const refusal = useRefusal('developer');
  const act = useMutation({
    mutationFn: () => call(what, { params: deliveryParams(name) }),
    onSuccess: () => toast(done),
    onError: toastError,
  });
  return (
    <Button
      variant="primary"
      icon={icon}
      pending={act.isPending}
      disabledReason={refusal ?? disabledReason}
      onClick={() => act.mutate()}
    >
      {label}
    </Button>
  );
}

function CancelDelivery({ label }: { readonly label: string }) {
  const name = useParams({ from: route });
  const { attempt, dialog } = useSearch({ from: route });
  const navigate = useNavigate({ from: '/deliveries/$event/$subscription/$replay' });
  const refusal = useRefusal('developer');
  const close = (): void => void navigate({ search: { attempt }, replace: true });
  const cancel = useMutation({
    mutationFn: () => call('cancelDelivery', { params: deliveryParams(name) }),
    onSuccess: () => {
      toast('Delivery discarded');
      close();
    },
  });
  return (
    <>
      <Button
        icon={<Ban />}
        disabledReason={refusal}
        onClick={() => void navigate({ search: { attempt, dialog: 'cancel' } })}
      >
        {label}
      </Button>
      <ConfirmDialog
        open={dialog === 'cancel' && refusal === undefined}
        onClose={close}
        title={`${label}?`}
        confirm={label}
        danger
        mutation={cancel}
      >
        <p>No further attempt is made. The event stays in the event log, and you can resend it.</p>
      </ConfirmDialog>
    </>
  );
}

function ResendDelivery({ deleted }: { readonly deleted: boolean }) {
  const name = useParams({ from: route });
  const refusal = useRefusal('developer');
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const resend = useMutation({
    mutationFn: () => call('resendDelivery', { params: deliveryParams(name) }),
    onSuccess: ({ delivery }) => {
      toast('Delivery resent');
      // A dispatcher may still have to write it: its page shows the answer until it can be read.
      const { subject = null, summary = '' } = queryClient.getQueryData(deliveryQuery(name).queryKey) ?? {};
      queryClient.setQueryData(deliveryQuery(pathOf(delivery)).queryKey, {
        ...{ ...delivery, subject, summary },
        ...{ history: [], others: [], wait: null },
      });
      void navigate({ to: '/deliveries/$event/$subscription/$replay', params: pathOf(delivery) });
    },
    onError: toastError,
  });
  return (
    <Button
      variant="primary"
      icon={<RotateCcw />}
      pending={resend.isPending}
      disabledReason={refusal ?? (deleted ? 'Its subscription was deleted' : undefined)}
      onClick={() => resend.mutate()}
    >
      Resend
    </Button>
  );
}
