import type { ErrorClass } from '@causeway/proto';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, type Input, operationQuery } from '../../model/client.ts';
import type { Subscription } from '../../model/subscriptions.ts';
import { errorText } from '../../ui/errors.ts';
import { Field, Fieldset, Form, Radio, Select } from '../../ui/form.tsx';
import { plural, span } from '../../ui/format.ts';
import { serverNow } from '../../ui/reachability.ts';
import { Notice, Skeleton } from '../../ui/states.tsx';
import { Moment } from '../../ui/values.tsx';

type Body = Input<'createReplay'>['body'];
type Kind = Body['kind'];

interface DeliverAgainProps {
  readonly subscription: Subscription;
  /** Of one cause of failure, which the list of causes chose. */
  readonly search: {
    readonly cause?: string | undefined;
    readonly status?: number | undefined;
    readonly since?: string | undefined;
  };
  readonly onClose: () => void;
}

const kinds = {
  failed: ['Failed deliveries', 'All attempts failed, and no replay succeeded since.'],
  missed: ['Missed events', 'Never sent, because the subscription was disabled or did not exist yet.'],
  filter: ['Everything', 'Includes successful deliveries. The receiver gets them again.'],
} as const;

const periods = [1, 6, 24, 168, 720].map((hours) => ({
  value: hours,
  label: `the last ${hours === 1 ? 'hour' : span(hours * 3_600_000)}`,
}));

/** A choice of one's own. It is gone when it is closed, so that nobody sends what they chose another time. */
export function DeliverAgain({ subscription, search, onClose }: DeliverAgainProps) {
  const { id: subscriptionId, eventTypes } = subscription;
  const { cause, status, since: chosenSince } = search;
  const [kind, setKind] = useState<Kind>('failed');
  const [hours, setHours] = useState(24);
  const [type, setType] = useState('');
  const [now] = useState(serverNow);
  const since = chosenSince ?? new Date(now - hours * 3_600_000).toISOString();
  const types = eventTypes.filter((one) => one === type);
  const common = { subscriptionId, since, ...(types.length > 0 && { types }) };
  const body: Body =
    cause !== undefined
      ? {
          ...{
            ...common,
            kind: 'filter',
            states: ['failed', 'dropped'],
            errorClasses: [cause as ErrorClass],
          },
          ...(status !== undefined && { statusCodes: [status] }),
        }
      : kind === 'filter'
        ? { ...common, kind, states: ['failed', 'succeeded', 'dropped'] }
        : { ...common, kind };
  const preview = useQuery({ ...operationQuery('previewReplay', { body }), retry: false });
  const count = preview.data?.count;
  return (
    <Form
      act={() => call('createReplay', { body })}
      onDone={onClose}
      submit={count ? plural(count, 'Deliver # again', 'Deliver # again') : 'Deliver again'}
      submitDisabledReason={
        count === 0 ? 'Nothing matches' : count === undefined ? 'Counting deliveries' : undefined
      }
      onCancel={onClose}
    >
      {cause === undefined ? (
        <Fieldset legend="Deliver again">
          {(['failed', 'missed', 'filter'] as const).map((each) => (
            <Radio
              key={each}
              name="kind"
              checked={kind === each}
              onChange={() => setKind(each)}
              label={kinds[each][0]}
              description={kinds[each][1]}
            />
          ))}
        </Fieldset>
      ) : (
        <p>Failed and discarded deliveries with this cause. Pending ones are retried by themselves.</p>
      )}
      {chosenSince === undefined ? (
        <Field label="Events of">
          <Select value={hours} options={periods} onValue={(value) => setHours(Number(value))} />
        </Field>
      ) : (
        <p>
          Events since <Moment time={chosenSince} />.
        </p>
      )}
      <Field label="Event type">
        <Select
          value={type}
          options={[
            { value: '', label: 'All types' },
            ...eventTypes.map((one) => ({ value: one, label: one })),
          ]}
          onValue={setType}
        />
      </Field>
      <div aria-live="polite">
        {preview.isError ? (
          <Notice tone="warn">{errorText(preview.error)}</Notice>
        ) : preview.data === undefined ? (
          <Skeleton width="60%" />
        ) : count === 0 ? (
          <p>Nothing matches.</p>
        ) : (
          <p>
            <strong>{plural(preview.data.count, '# delivery', '# deliveries')}</strong>, in about{' '}
            {span(Math.max(preview.data.estimateSeconds, 1) * 1000)}, with the same IDs, to the current URL.
            New events are not delayed.
          </p>
        )}
      </div>
    </Form>
  );
}
