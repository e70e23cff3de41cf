import { useState } from 'react';
import { useSession } from '../../app/session.ts';
import { fieldError } from '../../errors.ts';
import {
  Checkbox,
  Field,
  Fieldset,
  Form,
  type Mutation,
  Select,
  TextArea,
  TextInput,
} from '../../ui/form.tsx';
import { formatDateMinute } from '../../ui/format.ts';
import { Badge } from '../../ui/values.tsx';
import { type ApiKey, type Scope, scopeWords } from './scopes.ts';

export interface KeyDraft {
  readonly name: string;
  readonly note: string | null;
  readonly scopes: Scope[];
  /** Undefined: as it is. */
  readonly expiresUtc: string | null | undefined;
}

interface KeyFormProps {
  readonly initial?: ApiKey;
  readonly preset?: { readonly name: string; readonly scopes: readonly Scope[] } | undefined;
  readonly mutation: Mutation<KeyDraft>;
  readonly submit: string;
  readonly onCancel: () => void;
}

/** Creates and edits. */
export function KeyForm({ initial, preset, mutation, submit, onCancel }: KeyFormProps) {
  const { scopes } = useSession();
  const { error } = mutation;
  const [name, setName] = useState((initial ?? preset)?.name ?? '');
  const [note, setNote] = useState(initial?.note ?? '');
  const [chosen, setChosen] = useState<readonly Scope[]>((initial ?? preset)?.scopes ?? []);
  const kept = initial?.expiresUtc ?? undefined;
  const [expiry, setExpiry] = useState<string>(kept === undefined ? 'never' : 'kept');
  const toggle = (scope: Scope, on: boolean): void =>
    setChosen(on ? [...chosen, scope] : chosen.filter((one) => one !== scope));
  const save = (): void =>
    mutation.mutate({
      name,
      note: note.trim() || null,
      scopes: [...chosen],
      expiresUtc: expiry === 'kept' ? undefined : expiresAfter(Number(expiry)),
    });
  return (
    <Form
      mutation={mutation as Mutation<never>}
      onSubmit={save}
      fields={['name', 'note', 'scopes', 'expiresUtc']}
      submit={submit}
      onCancel={onCancel}
    >
      <Field
        label="Name"
        hint="What it is for, such as “Zapier” or “Website form”."
        error={fieldError(error, 'name')}
      >
        <TextInput value={name} maxLength={100} onValue={setName} />
      </Field>
      <Fieldset
        legend="What it may do"
        error={error && chosen.length === 0 ? 'Choose at least one permission.' : fieldError(error, 'scopes')}
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
      <Field
        label="Expires"
        hint="The key is revoked by itself at this time."
        error={fieldError(error, 'expiresUtc')}
      >
        <Select
          value={expiry}
          onValue={setExpiry}
          options={[
            ...(kept === undefined ? [] : [{ value: 'kept', label: `On ${formatDateMinute(kept)}` }]),
            ...expiries,
          ]}
        />
      </Field>
      <Field
        label="Note"
        optional
        hint="Who uses it, and where it is stored. Never the key itself."
        error={fieldError(error, 'note')}
      >
        <TextArea rows={2} value={note} maxLength={500} onValue={setNote} />
      </Field>
    </Form>
  );
}

const expiries = [
  { value: 'never', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
];

/** @param days not a number: never. */
const expiresAfter = (days: number): string | null =>
  Number.isNaN(days) ? null : new Date(Date.now() + days * 86_400_000).toISOString();
