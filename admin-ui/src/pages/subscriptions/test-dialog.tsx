import { useQuery } from '@tanstack/react-query';
import { AttemptView } from '../../model/attempt-view.tsx';
import { call, useMutation } from '../../model/client.ts';
import { eventTypesQuery } from '../../model/queries.ts';
import { nameOf } from '../../model/subscriptions.ts';
import { CodeBlock } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Fieldset, Form, Select, TextArea } from '../../ui/form.tsx';
import { useDraft } from '../../ui/form-draft.ts';
import { Stack } from '../../ui/layout.tsx';
import { SkeletonLines } from '../../ui/states.tsx';
import { Segmented } from '../../ui/toolbar.tsx';
import { ClockTime } from '../../ui/values.tsx';
import type { SubscriptionDialogProps } from './subscription-dialogs.tsx';

export const TestDialog = ({ open, subscription, onClose }: SubscriptionDialogProps) => (
  <Dialog
    open={open}
    onClose={onClose}
    size="l"
    title={`Test “${nameOf(subscription)}”`}
    description="Sends a signed delivery marked as a test. It does not count as a failure and is not logged."
  >
    <Test subscription={subscription} onClose={onClose} />
  </Dialog>
);

/** `own` is null while the sample of the type is sent. */
const noTest: { readonly type: string | undefined; readonly own: string | null } = {
  type: undefined,
  own: null,
};
const testLabels = { type: 'Event type', own: 'Payload' };

function Test({ subscription, onClose }: Omit<SubscriptionDialogProps, 'open'>) {
  const { id, eventTypes } = subscription;
  const draft = useDraft(`subscriptions/${id}/test`, noTest, testLabels);
  const { own } = draft.values;
  const type = eventTypes.find((one) => one === draft.values.type) ?? eventTypes[0];
  const described = useQuery(eventTypesQuery).data?.eventTypes.find((one) => one.type === type);
  const sample = described && JSON.stringify(described.sample, null, 2);
  const send = useMutation({
    mutationFn: async () => {
      const attempt = await call('testPortalSubscription', {
        params: { id },
        body: {
          ...(type && { eventType: type }),
          ...(own !== null && { useSamplePayload: false, samplePayload: parsePayload(own) }),
        },
      });
      return { attempt, at: new Date().toISOString() };
    },
  });
  return (
    <Stack gap="s">
      <Form
        draft={draft}
        mutation={send}
        onSubmit={() => send.mutate()}
        submit="Send test delivery"
        onCancel={onClose}
      >
        <Field label="Event type" hint={described?.description}>
          <Select
            value={type}
            options={eventTypes.map((one) => ({ value: one, label: one }))}
            onValue={(value) => draft.set({ type: value, own: null })}
          />
        </Field>
        <Fieldset legend="Payload">
          <div>
            <Segmented
              label="Which payload"
              value={own === null ? 'sample' : 'own'}
              options={[
                { value: 'sample', label: 'Sample' },
                { value: 'own', label: 'Own JSON' },
              ]}
              onChange={(kind) => draft.set({ own: kind === 'own' ? (sample ?? '{}') : null })}
            />
          </div>
          {own !== null ? (
            <Field hideLabel label="Payload as JSON" name="samplePayload">
              <TextArea
                mono
                rows={12}
                spellCheck={false}
                value={own}
                onValue={(value) => draft.set({ own: value })}
              />
            </Field>
          ) : sample === undefined ? (
            <SkeletonLines lines={8} />
          ) : (
            <CodeBlock code={sample} language="json" label="sample payload" maxLines={12} />
          )}
        </Fieldset>
      </Form>
      <section aria-label="Result" aria-live="polite" aria-busy={send.isPending}>
        {send.isPending ? (
          <SkeletonLines lines={6} />
        ) : (
          send.data && <AttemptView attempt={send.data.attempt} when={<ClockTime time={send.data.at} />} />
        )}
      </section>
    </Stack>
  );
}

/** Throws a plain sentence, which the form shows. */
const parsePayload = (text: string): Record<string, unknown> => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`The payload is not valid JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('The payload must be a JSON object');
  return value as Record<string, unknown>;
};
