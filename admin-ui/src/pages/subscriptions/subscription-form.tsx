import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { eventTypesQuery, subscriptionsQuery } from '../../model/queries.ts';
import { useSession } from '../../model/session.ts';
import { type EventType, nameOf, shortUrl } from '../../model/subscriptions.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { fieldError } from '../../ui/errors.ts';
import { Checkbox, Field, Fieldset, Form, type Mutation, TextArea, TextInput } from '../../ui/form.tsx';
import type { Draft } from '../../ui/form-draft.ts';
import { hasWords } from '../../ui/format.ts';
import { Card, Row } from '../../ui/layout.tsx';
import { Loaded, Notice } from '../../ui/states.tsx';
import { Badge } from '../../ui/values.tsx';
import { noRules, type RulesDraft } from './rule-drafts.ts';
import { RuleFields, useRuleWords } from './rule-fields.tsx';
import s from './subscription-form.module.css';

export interface SubscriptionDraft extends RulesDraft {
  readonly name: string;
  readonly url: string;
  readonly description: string;
  readonly eventTypes: readonly EventType[];
  readonly enabled: boolean;
}

export const emptyDraft: SubscriptionDraft = {
  ...{ name: '', url: '', description: '', eventTypes: [], enabled: true },
  ...noRules,
};

export const draftLabels: Readonly<Record<keyof SubscriptionDraft, string>> = {
  url: 'URL',
  name: 'Name',
  eventTypes: 'Events to send',
  description: 'Description',
  enabled: 'Enable at once',
  conditions: 'Filter',
  pace: 'Pace',
  headers: 'Headers',
};

interface SubscriptionFormProps {
  readonly draft: Draft<SubscriptionDraft>;
  readonly asksEnabled: boolean;
  readonly submit: string;
  readonly mutation: Mutation<SubscriptionDraft>;
  readonly secondary: ReactNode;
  readonly ownId?: number | undefined;
}

export function SubscriptionForm(props: SubscriptionFormProps) {
  const { draft: whole, asksEnabled, submit, mutation, secondary, ownId } = props;
  const { error } = mutation;
  const { values: draft, set } = whole;
  const words = useRuleWords(draft.eventTypes);
  return (
    <Card>
      <Form
        draft={whole}
        mutation={mutation}
        onSubmit={() => mutation.mutate(draft)}
        fields={['url', 'conditions', 'pace', 'headers']}
        submit={submit}
        secondary={secondary}
        words={words}
      >
        <UrlField control={whole.bind('url')} error={fieldError(error, 'url')} />
        <Field label="Name" name="name" optional hint="Shown in this portal, such as “Billing”.">
          <TextInput maxLength={100} {...whole.bind('name')} />
        </Field>
        <EventTypePicker value={draft.eventTypes} onChange={(eventTypes) => set({ eventTypes })} />
        <Field label="Description" name="description" optional>
          <TextArea
            rows={2}
            maxLength={2000}
            placeholder="Who owns it, what depends on it…"
            {...whole.bind('description')}
          />
        </Field>
        <RuleFields types={draft.eventTypes} value={draft} onChange={set} error={error} />
        {asksEnabled && (
          <Checkbox
            label="Enable at once"
            description="Otherwise it starts disabled. Events that occur while it is disabled are not delivered later automatically."
            checked={draft.enabled}
            onChange={(event) => set({ enabled: event.target.checked })}
          />
        )}
        <TwinHint draft={draft} ownId={ownId} />
      </Form>
    </Card>
  );
}

interface TwinHintProps extends Pick<SubscriptionFormProps, 'ownId'> {
  readonly draft: SubscriptionDraft;
}

function TwinHint({ draft, ownId }: TwinHintProps) {
  const all = useQuery(subscriptionsQuery).data?.subscriptions ?? [];
  const url = shortUrl(draft.url.trim());
  const twin = all.find(
    (one) =>
      one.id !== ownId &&
      shortUrl(one.url) === url &&
      one.eventTypes.some((type) => draft.eventTypes.includes(type)),
  );
  if (!twin) return null;
  const name = nameOf(twin);
  return (
    <Notice tone="warn">
      “{name}” already sends some of these events to this URL. The receiver would get each of them twice.
    </Notice>
  );
}

interface UrlFieldProps {
  readonly control: ReturnType<Draft<SubscriptionDraft>['bind']>;
  readonly error: string | undefined;
}

function UrlField({ control, error }: UrlFieldProps) {
  const { features } = useSession();
  return (
    <Field
      label="URL"
      error={error && advise(error)}
      hint={
        features.allowHttp
          ? 'Events are sent here as POST requests.'
          : 'Events are sent here as POST requests. Must start with https://.'
      }
    >
      <TextInput
        type="url"
        mono
        spellCheck={false}
        placeholder="https://hooks.example.com/crm"
        {...control}
      />
    </Field>
  );
}

/** The server says only that a text is no URL; says what one looks like. */
const advise = (error: string): string =>
  error === 'Invalid URL.' ? 'This is not a URL. Enter one like https://hooks.example.com/crm.' : error;

interface EventTypePickerProps {
  readonly value: readonly EventType[];
  readonly onChange: (value: readonly EventType[]) => void;
}

function EventTypePicker({ value, onChange }: EventTypePickerProps) {
  const [text, setText] = useState('');
  const query = useQuery(eventTypesQuery);
  const all = query.data?.eventTypes ?? [];
  const shown = all.filter((one) => hasWords(`${one.type} ${one.title} ${one.description}`, text));
  const count = value.length;
  const everything = all.length > 0 && value.length === all.length;
  return (
    <Fieldset legend="Events to send" name="eventTypes">
      <div className={s.box}>
        <div className={s.bar}>
          <Field label="Search event types" hideLabel>
            <TextInput type="search" placeholder="Search…" value={text} onValue={setText} />
          </Field>
          <Row nowrap>
            <span className={s.count} role="status">
              {count} chosen
            </span>
            <Button size="s" onClick={() => onChange(everything ? [] : all.map((one) => one.type))}>
              {everything ? 'None' : 'All'}
            </Button>
          </Row>
        </div>
        <Loaded query={query}>
          {() => (
            <ul className={s.list}>
              {shown.map(({ type, title, description, sample }) => (
                <li key={type}>
                  <Checkbox
                    checked={value.includes(type)}
                    onChange={(event) =>
                      onChange(
                        event.target.checked ? [...value, type] : value.filter((other) => other !== type),
                      )
                    }
                    label={
                      <>
                        {title} <Badge mono>{type}</Badge>
                      </>
                    }
                    description={description}
                  />
                  <details className={s.sample}>
                    <summary>
                      Sample<span className="visually-hidden"> of {title}</span>
                    </summary>
                    <CodeBlock
                      code={JSON.stringify(sample, null, 2)}
                      language="json"
                      label={`sample of ${type}`}
                    />
                  </details>
                </li>
              ))}
              {shown.length === 0 && <li className={s.none}>No event type matches.</li>}
            </ul>
          )}
        </Loaded>
      </div>
    </Fieldset>
  );
}
