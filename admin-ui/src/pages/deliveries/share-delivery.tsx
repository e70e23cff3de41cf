import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Share2 } from 'lucide-react';
import { useState } from 'react';
import { call, operationQuery, useMutation } from '../../model/client.ts';
import { deliveryParams } from '../../model/deliveries.ts';
import { useRefusal } from '../../model/session.ts';
import { Button, CopyButton } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Form, Select } from '../../ui/form.tsx';
import { plural } from '../../ui/format.ts';
import { Quiet, Row, Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/states.tsx';
import { toast, toastError } from '../../ui/toast.ts';
import { TimeAgo } from '../../ui/values.tsx';

const route = '/in/deliveries/$event/$subscription/$replay';
const sharesQuery = operationQuery('listDeliveryShares', {});

/** A link for the receiver's support. */
export function ShareActions({ id, attempt }: { readonly id: string; readonly attempt: number | undefined }) {
  const { dialog } = useSearch({ from: route });
  const navigate = useNavigate({ from: '/deliveries/$event/$subscription/$replay' });
  const refusal = useRefusal('developer');
  return (
    <>
      <Button
        icon={<Share2 />}
        disabledReason={refusal}
        onClick={() => void navigate({ search: { attempt, dialog: 'share' } })}
      >
        Share…
      </Button>
      {dialog === 'share' && refusal === undefined && (
        <ShareDialog id={id} onClose={() => void navigate({ search: { attempt }, replace: true })} />
      )}
    </>
  );
}

const lifetimes = [
  { value: 1, label: '1 hour' },
  { value: 24, label: '1 day' },
  { value: 72, label: '3 days' },
  { value: 168, label: '7 days' },
];

function ShareDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const name = useParams({ from: route });
  const [hours, setHours] = useState(24);
  const share = useMutation({
    mutationFn: () => call('shareDelivery', { params: deliveryParams(name), body: { hours } }),
  });
  const link = share.data && `${location.origin}/portal/shared#${share.data.token}`;
  return (
    <Dialog
      open
      onClose={onClose}
      title="Share delivery"
      description="Anyone with the link sees this one delivery and its attempts, without signing in. Personal data is masked, as for viewers."
      keep={link !== undefined}
    >
      {link === undefined ? (
        <Form mutation={share} submit="Create link" onCancel={onClose}>
          <Field label="Works for">
            <Select value={hours} options={lifetimes} onValue={(value) => setHours(Number(value))} />
          </Field>
          <Shares id={id} />
        </Form>
      ) : (
        <Stack>
          <Notice tone="info">The link is shown only now. Revoke it here at any time.</Notice>
          <CodeBlock code={link} language="text" label="link" title="Link" wrap />
          <Row justify="flex-end">
            <CopyButton value={link} label="Copy link" variant="primary" size="m">
              Copy link
            </CopyButton>
            <Button onClick={onClose}>Done</Button>
          </Row>
        </Stack>
      )}
    </Dialog>
  );
}

function Shares({ id }: { readonly id: string }) {
  const shares = useQuery(sharesQuery).data?.shares.filter(({ deliveryId }) => deliveryId === id) ?? [];
  const revoke = useMutation({
    mutationFn: (share: number) => call('revokeDeliveryShare', { params: { id: share } }),
    onSuccess: () => toast('Link revoked'),
    onError: toastError,
  });
  if (shares.length === 0) return null;
  return (
    <Stack gap="s">
      <strong>Links that work</strong>
      {shares.map((share) => (
        <Row key={share.id} justify="space-between" nowrap>
          <span>
            <bdi>{share.createdBy}</bdi>, ends <TimeAgo time={share.expiresUtc} />
            <br />
            <Quiet small>
              {share.opened === 0 ? 'Never opened' : `Opened ${plural(share.opened, '# time', '# times')}`}
              {share.lastOpenedUtc !== null && (
                <>
                  , last <TimeAgo time={share.lastOpenedUtc} />
                </>
              )}
            </Quiet>
          </span>
          <Button size="s" pending={revoke.isPending} onClick={() => revoke.mutate(share.id)}>
            Revoke link
          </Button>
        </Row>
      ))}
    </Stack>
  );
}
