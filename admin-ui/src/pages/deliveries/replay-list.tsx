import type { ErrorClass } from '@causeway/proto';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { call, type Input, operationQuery, useMutation } from '../../model/client.ts';
import { type DeliverySearch, sinceOf } from '../../model/deliveries.ts';
import { subscriptionsQuery } from '../../model/queries.ts';
import { SubscriptionLink, useSubscriptionNames } from '../../model/subscription-link.tsx';
import { nameOf } from '../../model/subscriptions.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { errorText } from '../../ui/errors.ts';
import { Field, Fieldset, Form, Radio, Select } from '../../ui/form.tsx';
import { type FormDraft, useDraft } from '../../ui/form-draft.ts';
import { plural, span } from '../../ui/format.ts';
import { Card, Stack } from '../../ui/layout.tsx';
import { Empty, Notice, Skeleton } from '../../ui/states.tsx';
import { type Column, Pager, Table, timeColumn } from '../../ui/table.tsx';
import { Cut, StateBadge } from '../../ui/values.tsx';
import { kindLabels, outcomeOf, Progress, type Replay, replayStates } from './replay.tsx';

export function ReplayList({ cursor }: { readonly cursor: string | undefined }) {
  const navigate = useNavigate({ from: '/deliveries' });
  const query = useQuery({
    ...operationQuery('listReplays', { query: { cursor } }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.replays.some((replay) => replay.state === 'running') ? 2000 : false,
  });
  const names = useSubscriptionNames();
  return (
    <Card flush>
      <Table
        query={query}
        label="Replays"
        columns={columnsWith(names)}
        rows={query.data?.replays}
        rowKey={(replay) => replay.id}
        emptyState={
          <Empty title="No replays yet">
            A replay delivers failed or missed events again, without delaying new ones.
          </Empty>
        }
      />
      <Pager
        cursor={cursor}
        page={query.data}
        onPage={(to) => void navigate({ search: { view: 'replays', cursor: to } })}
      />
    </Card>
  );
}

const columnsWith = (names: ReadonlyMap<number, string>): readonly Column<Replay>[] => [
  {
    header: 'Replay',
    grow: true,
    cell: (replay) => (
      <Stack gap="xs">
        <Link to="/replays/$id" params={{ id: replay.id }}>
          <strong>{kindLabels[replay.kind]}</strong>
        </Link>
        {replay.total > 1 && <Progress replay={replay} />}
      </Stack>
    ),
  },
  {
    header: 'Subscription',
    bounded: true,
    cell: ({ subscriptionId: id }) => <SubscriptionLink id={id} name={names.get(id)} />,
  },
  {
    header: 'State',
    cell: (replay) => <StateBadge {...replayStates[replay.state]} />,
  },
  { header: 'Outcome', cell: (replay) => outcomeOf(replay) },
  {
    header: 'By',
    bounded: true,
    cell: (replay) => <Cut text={replay.createdBy ?? 'An API key'} />,
  },
  timeColumn('Started', (replay) => replay.createdUtc, { align: 'end' }),
];

type Body = Input<'createReplay'>['body'];
type Kind = Body['kind'];

const periods = [
  { value: 1, label: 'the last hour' },
  { value: 6, label: 'the last 6 hours' },
  { value: 24, label: 'the last 24 hours' },
  { value: 168, label: 'the last 7 days' },
  { value: 720, label: 'the last 30 days' },
];

const labels = {
  subscriptionId: 'Subscription',
  kind: 'Deliveries',
  hours: 'Events of',
};

export function ReplayDialog({ filters, onClose }: { filters: DeliverySearch; onClose: () => void }) {
  const subscriptions = useQuery(subscriptionsQuery).data?.subscriptions ?? [];
  // Of one cause: failed and discarded ones; the others are still on their way, or held.
  const ofCause = filters.cause !== undefined && filters.state === 'undelivered';
  const initial = (ofCause || filters.state === 'succeeded' ? 'filter' : 'failed') as Kind;
  const form = `replays/new ${JSON.stringify(filters)}`;
  const draft = useDraft(form, { subscriptionId: filters.subscription, kind: initial, hours: 24 }, labels);
  const { subscriptionId, kind, hours } = draft.values;
  const [now] = useState(Date.now);
  const chosen = subscriptionId ?? subscriptions[0]?.id;
  const since = sinceOf(filters) ?? new Date(now - hours * 3_600_000).toISOString();
  const body = chosen === undefined ? null : toBody(chosen, kind, since, filters);
  return (
    <Dialog
      open
      onClose={onClose}
      title="Replay deliveries"
      description="Events are delivered again with the same ID, to the current URL, signed with the current secret."
    >
      <ReplayForm form={form} draft={draft} body={body} onClose={onClose}>
        <Field label="Subscription">
          <Select
            value={chosen ?? ''}
            options={subscriptions.map((one) => ({ value: one.id, label: nameOf(one) }))}
            onValue={(id) => draft.set({ subscriptionId: Number(id) })}
          />
        </Field>
        {ofCause ? (
          <p>
            Failed and discarded deliveries with this cause. Pending ones are retried by themselves; held ones
            are released on the subscription’s page.
          </p>
        ) : (
          <Fieldset legend="Deliveries">
            <Radio
              name="kind"
              checked={kind === 'failed'}
              onChange={() => draft.set({ kind: 'failed' })}
              label="Failed deliveries"
              description="All attempts failed, and no replay succeeded since."
            />
            <Radio
              name="kind"
              checked={kind === 'missed'}
              onChange={() => draft.set({ kind: 'missed' })}
              label="Missed events"
              description="Never sent, because the subscription was disabled or did not exist yet."
            />
            <Radio
              name="kind"
              checked={kind === 'filter'}
              onChange={() => draft.set({ kind: 'filter' })}
              label="Everything"
              description="Includes successful deliveries. The receiver gets them again."
            />
          </Fieldset>
        )}
        {sinceOf(filters) === undefined && (
          <Field label="Events of">
            <Select
              value={hours}
              options={periods}
              onValue={(value) => draft.set({ hours: Number(value) })}
            />
          </Field>
        )}
      </ReplayForm>
    </Dialog>
  );
}

const toBody = (subscriptionId: number, kind: Kind, since: string, filters: DeliverySearch): Body => {
  const narrowed = {
    subscriptionId,
    since,
    ...(filters.until === undefined ? {} : { until: filters.until }),
    ...(filters.type === undefined ? {} : { types: [filters.type] }),
  };
  if (kind !== 'filter') return { ...narrowed, kind };
  const state = (['failed', 'succeeded', 'dropped'] as const).find((one) => one === filters.state);
  return {
    ...narrowed,
    kind,
    states: state
      ? [state]
      : filters.state === 'undelivered'
        ? ['failed', 'dropped']
        : ['failed', 'succeeded', 'dropped'],
    ...(filters.status === undefined ? {} : { statusCodes: [filters.status] }),
    ...(filters.cause === undefined ? {} : { errorClasses: [filters.cause as ErrorClass] }),
  };
};

interface ReplayFormProps {
  readonly form: string;
  readonly draft: FormDraft;
  readonly body: Body | null;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

function ReplayForm({ form, draft, body, onClose, children }: ReplayFormProps) {
  const navigate = useNavigate();
  const preview = useQuery({
    // Loads only if there is a subscription.
    ...operationQuery('previewReplay', { body: body as Body }),
    enabled: body !== null,
    retry: false,
  });
  const begin = useMutation({
    mutationFn: (asked: Body) => call('createReplay', { body: asked }),
    meta: { saves: form },
    onSuccess: (replay) => void navigate({ to: '/replays/$id', params: { id: replay.id } }),
  });
  const count = preview.data?.count;
  return (
    <Form
      draft={draft}
      mutation={begin}
      onSubmit={() => body && begin.mutate(body)}
      submit={count ? `Replay ${plural(count, '# delivery', '# deliveries')}` : 'Replay'}
      submitDisabledReason={
        body === null
          ? 'Add a subscription first'
          : count === 0
            ? 'There is nothing to replay'
            : count === undefined
              ? 'Counting deliveries'
              : undefined
      }
      onCancel={onClose}
    >
      {children}
      <div aria-live="polite">
        {preview.isError ? (
          <Notice tone="warn">{errorText(preview.error)}</Notice>
        ) : count === undefined ? (
          <Skeleton width="60%" />
        ) : count === 0 ? (
          <p>Nothing matches.</p>
        ) : (
          <p>
            <strong>{plural(count, '# delivery', '# deliveries')}</strong>, in about{' '}
            {span(Math.max(preview.data?.estimateSeconds ?? 1, 1) * 1000)}. New events are not delayed.
          </p>
        )}
      </div>
    </Form>
  );
}
