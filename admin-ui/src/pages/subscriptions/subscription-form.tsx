import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { fieldError } from '../../errors.ts';
import { Card } from '../../ui/card.tsx';
import { Checkbox } from '../../ui/choice.tsx';
import { Field, TextArea, TextInput } from '../../ui/field.tsx';
import { Form, type Mutation } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { SkeletonLines } from '../../ui/states.tsx';
import { EventTypePicker } from './event-type-picker.tsx';
import { eventTypesQuery, subscriptionsQuery } from './queries.ts';
import { type EventType, nameOf, shortUrl } from './state.ts';
import { UrlField } from './url-field.tsx';

export interface Draft {
  readonly name: string;
  readonly url: string;
  readonly description: string;
  readonly eventTypes: readonly EventType[];
  readonly enabled: boolean;
}

export const emptyDraft: Draft = { name: '', url: '', description: '', eventTypes: [], enabled: true };

interface SubscriptionFormProps {
  readonly initial: Draft;
  /** Asks whether to enable it at once; for new subscriptions only. */
  readonly asksEnabled: boolean;
  readonly submit: string;
  readonly mutation: Mutation<Draft>;
  readonly secondary: ReactNode;
  /** The subscription that is edited. */
  readonly ownId?: number;
  /** A message above the buttons that can change the draft. */
  readonly notice?: ((draft: Draft, set: (change: Partial<Draft>) => void) => ReactNode) | undefined;
}

/** Waits for the event types, so that nothing below them moves. */
export function SubscriptionForm(props: SubscriptionFormProps) {
  const { isPending } = useQuery(eventTypesQuery);
  if (!isPending) return <Fields {...props} />;
  return (
    <Card>
      <div aria-busy="true">
        <SkeletonLines lines={10} />
      </div>
    </Card>
  );
}

function Fields(props: SubscriptionFormProps) {
  const { initial, asksEnabled, submit, mutation, secondary, ownId, notice } = props;
  const { error } = mutation;
  const [draft, setDraft] = useState(initial);
  const set = (change: Partial<Draft>): void => setDraft({ ...draft, ...change });
  return (
    <Card>
      <Form
        mutation={mutation}
        onSubmit={() => mutation.mutate(draft)}
        fields={['url', 'name', 'description', 'eventTypes']}
        submit={submit}
        secondary={secondary}
      >
        <UrlField value={draft.url} onChange={(url) => set({ url })} error={fieldError(error, 'url')} />
        <Field
          label="Name"
          optional
          hint="Shown in this portal, such as “Billing”."
          error={fieldError(error, 'name')}
        >
          <TextInput
            maxLength={100}
            value={draft.name}
            onChange={(event) => set({ name: event.target.value })}
          />
        </Field>
        <EventTypePicker
          value={draft.eventTypes}
          onChange={(eventTypes) => set({ eventTypes })}
          error={fieldError(error, 'eventTypes')}
        />
        <Field label="Description" optional error={fieldError(error, 'description')}>
          <TextArea
            rows={2}
            maxLength={2000}
            placeholder="Who owns it, what depends on it…"
            value={draft.description}
            onChange={(event) => set({ description: event.target.value })}
          />
        </Field>
        {asksEnabled && (
          <Checkbox
            label="Enable at once"
            description="Otherwise it starts disabled. Events that occur while it is disabled are not delivered later automatically."
            checked={draft.enabled}
            onChange={(event) => set({ enabled: event.target.checked })}
          />
        )}
        <TwinHint draft={draft} ownId={ownId} />
        {notice?.(draft, set)}
      </Form>
    </Card>
  );
}

/** Says that another subscription already sends some of the chosen events to the URL. */
function TwinHint({ draft, ownId }: { readonly draft: Draft; readonly ownId: number | undefined }) {
  const all = useQuery(subscriptionsQuery).data?.subscriptions ?? [];
  const url = shortUrl(draft.url.trim());
  const twin = all.find(
    (one) =>
      one.id !== ownId &&
      shortUrl(one.url) === url &&
      one.eventTypes.some((type) => draft.eventTypes.includes(type)),
  );
  if (!twin) return null;
  return (
    <Notice tone="warn">
      “{nameOf(twin)}” already sends some of these events to this URL. The receiver would get each of them
      twice.
    </Notice>
  );
}
