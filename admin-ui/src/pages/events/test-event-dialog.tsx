import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import { fieldError } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { plural } from '../../ui/format.ts';
import { Notice } from '../../ui/notice.tsx';
import { toast } from '../../ui/toast.ts';
import { eventTypesQuery } from '../subscriptions/queries.ts';
import { parsePayload } from '../test/parse-payload.ts';
import { PayloadField } from '../test/payload-field.tsx';

/** Creates a real event, delivered to every subscription to its type. */
export function TestEventDialog({ onClose }: { readonly onClose: () => void }) {
  const types = useQuery(eventTypesQuery).data?.eventTypes ?? [];
  const [chosen, setChosen] = useState<string>();
  const [own, setOwn] = useState<string | null>(null);
  const described = types.find((one) => one.type === chosen) ?? types[0];
  const navigate = useNavigate();
  const send = useMutation({
    mutationFn: async () => {
      const type = described?.type ?? 'client.created';
      return call('createPortalTestEvent', {
        body: { type, ...(own === null ? {} : { payload: parsePayload(own) }) },
      });
    },
    meta: { invalidates: [['listPortalEvents']] },
    onSuccess: (event) => {
      toast(`Sent to ${plural(event.subscriptionCount, 'subscription')}`);
      void navigate({ to: '/events/$id', params: { id: event.id } });
    },
  });
  return (
    <Dialog open onClose={onClose} title="Send test event" size="l">
      <Form
        mutation={send}
        fields={['type', 'payload']}
        submit="Send event"
        secondary={<Button onClick={onClose}>Cancel</Button>}
      >
        <Notice tone="warn">
          This is a real event: every subscription to its type receives it, tools act on it, and it stays in
          the log. To try one receiver only, send a test delivery.
        </Notice>
        <Field label="Event type" hint={described?.description} error={fieldError(send.error, 'type')}>
          <Select
            value={described?.type}
            onChange={(event) => {
              setChosen(event.target.value);
              setOwn(null);
            }}
          >
            {types.map((one) => (
              <option key={one.type} value={one.type}>
                {one.type}
              </option>
            ))}
          </Select>
        </Field>
        <PayloadField
          sample={described?.sample}
          schema={described?.schema}
          value={own}
          onChange={setOwn}
          error={fieldError(send.error, 'payload')}
        />
      </Form>
    </Dialog>
  );
}
