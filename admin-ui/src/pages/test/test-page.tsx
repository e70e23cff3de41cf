import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { AttemptView } from '../../model/attempt-view.tsx';
import { call, useMutation } from '../../model/client.ts';
import { PayloadField, parsePayload } from '../../model/payload-field.tsx';
import { eventTypesQuery, subscriptionsQuery } from '../../model/queries.ts';
import { useRefusal } from '../../model/session.ts';
import { nameOf, type Subscription } from '../../model/subscriptions.ts';
import { LinkButton } from '../../ui/button.tsx';
import { fieldError } from '../../ui/errors.ts';
import { Field, Form, Select, TextInput } from '../../ui/form.tsx';
import { useDraft } from '../../ui/form-draft.ts';
import { Card, Grid, Page } from '../../ui/layout.tsx';
import { Empty, Loaded, Notice, SkeletonCard, SkeletonLines } from '../../ui/states.tsx';
import { ClockTime } from '../../ui/values.tsx';

export function TestPage() {
  const refusal = useRefusal('developer');
  const query = useQuery(subscriptionsQuery);
  const types = useQuery(eventTypesQuery);
  const skeleton = <SkeletonCard lines={10} />;
  return (
    <Page
      title="Test delivery"
      description="Sends a signed delivery marked as a test. It does not count as a failure and is not logged."
    >
      {refusal ? (
        <Notice tone="info">{refusal}</Notice>
      ) : (
        <Loaded query={query} skeleton={skeleton}>
          {({ subscriptions }) =>
            subscriptions.length === 0 ? (
              <Card>
                <Empty
                  title="No subscriptions yet"
                  action={
                    <LinkButton to="/subscriptions/new" variant="primary">
                      Add subscription
                    </LinkButton>
                  }
                >
                  Test deliveries go to a subscription’s URL. Add a subscription first.
                </Empty>
              </Card>
            ) : types.isPending ? (
              <div aria-busy="true">{skeleton}</div>
            ) : (
              <TestForm subscriptions={subscriptions} />
            )
          }
        </Loaded>
      )}
    </Page>
  );
}

/** `own` is null while the sample of the type is sent. */
const noTest: { readonly own: string | null; readonly status: string } = { own: null, status: '' };
const testLabels = { own: 'Payload', status: 'Status override' };

function TestForm({ subscriptions }: { readonly subscriptions: readonly Subscription[] }) {
  const search = useSearch({ from: '/in/test' });
  const navigate = useNavigate({ from: '/test' });
  const subscription = subscriptions.find((one) => one.id === search.subscription) ?? subscriptions[0];
  const types = subscription?.eventTypes ?? [];
  const type = types.find((one) => one === search.type) ?? types[0];
  const catalog = useQuery(eventTypesQuery).data?.eventTypes;
  const described = catalog?.find((one) => one.type === type);
  const draft = useDraft(`test/${type}`, noTest, testLabels);
  const { own, status } = draft.values;
  const send = useMutation({
    mutationFn: async (id: number) => {
      const attempt = await call('testPortalSubscription', {
        params: { id },
        body: {
          ...(type ? { eventType: type } : {}),
          ...(own === null ? {} : { useSamplePayload: false, samplePayload: parsePayload(own) }),
          ...(status.trim() ? { statusOverride: status.trim() } : {}),
        },
      });
      return { attempt, at: new Date().toISOString() };
    },
    meta: { invalidates: [['getFirstDeliverySteps']] },
  });
  if (!subscription) return null;
  return (
    <Grid min={26}>
      <Card title="Request">
        <Form
          draft={draft}
          onSubmit={() => send.mutate(subscription.id)}
          mutation={send}
          fields={['statusOverride', 'samplePayload']}
          submit="Send test delivery"
        >
          <Field label="Subscription" hint={<code>{subscription.url}</code>}>
            <Select
              value={subscription.id}
              options={subscriptions.map((one) => ({
                value: one.id,
                label: `${nameOf(one)}${one.enabled ? '' : ' (off)'}`,
              }))}
              onValue={(id) => void navigate({ search: { subscription: Number(id) }, replace: true })}
            />
          </Field>
          <Field label="Event type" hint={described?.description}>
            <Select
              value={type}
              options={types.map((one) => ({ value: one, label: one }))}
              onValue={(value) => void navigate({ search: { ...search, type: value }, replace: true })}
            />
          </Field>
          <PayloadField
            sample={described?.sample}
            schema={described?.schema}
            value={own}
            onChange={(value) => draft.set({ own: value })}
            error={fieldError(send.error, 'samplePayload')}
          />
          <Field
            label="Status override"
            optional
            hint={
              <>
                Sent as <code>metadata.status</code>, for receivers that branch on it.
              </>
            }
            error={fieldError(send.error, 'statusOverride')}
          >
            <TextInput maxLength={100} value={status} onValue={(value) => draft.set({ status: value })} />
          </Field>
        </Form>
      </Card>
      <Card title="Result">
        <div aria-live="polite" aria-busy={send.isPending}>
          {send.isPending ? (
            <SkeletonLines lines={8} />
          ) : send.data ? (
            <AttemptView attempt={send.data.attempt} when={<ClockTime time={send.data.at} />} />
          ) : (
            <Empty title="No test sent yet">
              Your receiver’s response, the timings and the full request are shown here.
            </Empty>
          )}
        </div>
      </Card>
    </Grid>
  );
}
