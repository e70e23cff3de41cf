import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Checkbox, Field, Fieldset, Form, type Mutation, Select, TextArea, TextInput } from '../ui/form.tsx';
import { changeOf, useDraft } from '../ui/form-draft.ts';
import { formatDateMinute, plural } from '../ui/format.ts';
import { serverNow } from '../ui/reachability.ts';
import { Notice } from '../ui/states.tsx';
import { Badge, Moment } from '../ui/values.tsx';
import type { Input } from './client.ts';
import { type KeyPresetName, keyPresetNames, keyUseQuery } from './queries.ts';
import { type ApiKey, keyPresets, type Scope, scopeWords } from './scopes.ts';
import { useSession } from './session.ts';

const labels = {
  name: 'Name',
  note: 'Note',
  scopes: 'What it may do',
  expiresUtc: 'Expires',
  networks: 'Allowed networks',
};

/** The fields that were changed, and with them the values that were known of them. A new key has all fields. */
export type KeyChange = Input<'createApiKey'>['body'] & Input<'updateApiKey'>['body'];

interface KeyFormProps {
  /** Of its draft. */
  readonly form: string;
  readonly initial?: ApiKey;
  readonly preset?: KeyPresetName | undefined;
  readonly mutation: Mutation<KeyChange>;
  readonly submit: string;
  readonly onCancel: () => void;
}

/** Creates and edits. */
export function KeyForm({ form, initial, preset, mutation, submit, onCancel }: KeyFormProps) {
  const { scopes } = useSession();
  const { error } = mutation;
  const filled = initial ?? (preset && keyPresets[preset]);
  const [tool, setTool] = useState<string>(preset ?? 'other');
  const [since] = useState(serverNow);
  const stored: KeyValues = {
    name: filled?.name ?? '',
    note: initial?.note ?? '',
    scopes: filled?.scopes ?? [],
    expiresUtc: initial?.expiresUtc ?? '',
    networks: initial?.networks?.join('\n') ?? '',
  };
  const draft = useDraft(form, stored, labels);
  const { name, scopes: chosen, expiresUtc } = draft.values;
  const fill = (to: string): void => {
    setTool(to);
    const wanted = keyPresetNames.find((one) => one === to);
    if (wanted === undefined) return;
    const isNamed = name !== '' && !keyPresetNames.some((one) => keyPresets[one].name === name);
    const { scopes: needed, name: usual } = keyPresets[wanted];
    draft.set({ scopes: needed, ...(!isNamed && { name: usual }) });
  };
  const toggle = (scope: Scope, on: boolean): void =>
    draft.set({ scopes: on ? [...chosen, scope] : chosen.filter((one) => one !== scope) });
  const save = (): void =>
    mutation.mutate((initial ? changeOf(draft, fieldsOf) : fieldsOf(draft.values)) as KeyChange);
  return (
    <Form draft={draft} mutation={mutation} onSubmit={save} submit={submit} onCancel={onCancel}>
      <Field label="Name" name="name" hint="What it is for, such as “Zapier” or “Website form”.">
        <TextInput maxLength={100} {...draft.bind('name')} />
      </Field>
      {initial === undefined && (
        <Field label="For" hint="Fills in the permissions that such a tool needs.">
          <Select value={tool} onValue={fill} options={tools} />
        </Field>
      )}
      <Fieldset
        legend="What it may do"
        name="scopes"
        error={error && chosen.length === 0 ? 'Choose at least one permission.' : undefined}
      >
        {scopes.map((scope) => (
          <Checkbox
            key={scope}
            checked={chosen.includes(scope)}
            onChange={(event) => toggle(scope, event.target.checked)}
            label={
              <>
                {scopeWords[scope].label} <Badge mono>{scope}</Badge>
              </>
            }
            description={scopeWords[scope].description}
          />
        ))}
      </Fieldset>
      {initial && <RefusedCalls apiKey={initial} chosen={chosen} />}
      <Field label="Expires" name="expiresUtc" hint="The key is revoked by itself at this time.">
        <Select {...draft.bind('expiresUtc')} options={expiries(since, [stored.expiresUtc, expiresUtc])} />
      </Field>
      <Field
        label="Allowed networks"
        name="networks"
        optional
        hint="Addresses or networks, such as 203.0.113.0/24, one in each line. Requests from elsewhere are refused."
      >
        <TextArea rows={2} maxLength={2500} {...draft.bind('networks')} />
      </Field>
      <Field
        label="Note"
        name="note"
        optional
        hint="Who uses it, and where it is stored. Never the key itself."
      >
        <TextArea rows={2} maxLength={500} {...draft.bind('note')} />
      </Field>
    </Form>
  );
}

interface KeyValues {
  readonly name: string;
  readonly note: string;
  readonly scopes: readonly Scope[];
  /** Empty: never. */
  readonly expiresUtc: string;
  readonly networks: string;
}

const fieldsOf = ({ name, note, scopes, expiresUtc, networks }: KeyValues) => ({
  name,
  note: note.trim() || null,
  scopes: [...scopes],
  expiresUtc: expiresUtc || null,
  networks: networksIn(networks),
});

const networksIn = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);

function RefusedCalls({ apiKey, chosen }: { readonly apiKey: ApiKey; readonly chosen: readonly Scope[] }) {
  const { data } = useQuery(keyUseQuery(apiKey.id));
  const lost =
    data?.scopes.filter(({ scope }) => apiKey.scopes.includes(scope) && !chosen.includes(scope)) ?? [];
  const refused = lost.reduce((total, { requests }) => total + requests, 0);
  if (data === undefined || chosen.length === apiKey.scopes.length) return null;
  return refused === 0 ? null : (
    <Notice tone="warn">
      {plural(refused, '# request')} since <Moment time={data.sinceUtc} /> would have been refused.
    </Notice>
  );
}

const tools = [
  { value: 'other', label: 'Another tool' },
  ...keyPresetNames.map((value) => ({ value, label: keyPresets[value].name })),
];

/** @param times that are among the choices too, whenever they were chosen */
const expiries = (now: number, times: readonly string[]) => {
  const inDays = (days: number): string => new Date(now + days * 86_400_000).toISOString();
  const choices = [
    { value: '', label: 'Never' },
    { value: inDays(7), label: 'In 7 days' },
    { value: inDays(30), label: 'In 30 days' },
    { value: inDays(90), label: 'In 90 days' },
    { value: inDays(365), label: 'In a year' },
  ];
  const others = [...new Set(times)].filter((time) => choices.every(({ value }) => value !== time));
  return [...others.map((value) => ({ value, label: `On ${formatDateMinute(value)}` })), ...choices];
};
