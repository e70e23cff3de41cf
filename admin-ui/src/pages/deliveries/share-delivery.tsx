import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Share2 } from 'lucide-react';
import { useState } from 'react';
import { call, operationQuery, useMutation } from '../../model/client.ts';
import { deliveryParams } from '../../model/deliveries.ts';
import { useRefusal } from '../../model/session.ts';
import { SharedLinks } from '../../model/shared-links.tsx';
import { Button, CopyButton } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Form, Select } from '../../ui/form.tsx';
import { Row, Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/states.tsx';

const route = '/in/deliveries/$event/$subscription/$replay';
const _sharesQuery = operationQuery('listDeliveryShares', {});

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
          <SharedLinks deliveryId={id} />
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
