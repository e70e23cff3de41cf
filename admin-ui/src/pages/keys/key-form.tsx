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
import { useDraft } from '../../ui/form-draft.ts';
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

const labels = { name: 'Name', note: 'Note', scopes: 'What it may do', expiry: 'Expires' };

/** What to save, and the values that were known of it. */
export interface KeyChange {
  readonly draft: KeyDraft;
  readonly known: Partial<ApiKey>;
}

interface KeyFormProps {
  /** Of its draft. */
  readonly form: string;
  readonly initial?: ApiKey;
  readonly preset?: { readonly name: string; readonly scopes: readonly Scope[] } | undefined;
  readonly mutation: Mutation<KeyChange>;
  readonly submit: string;
  readonly onCancel: () => void;
}

/** Creates and edits. */
export function KeyForm({ form, initial, preset, mutation, submit, onCancel }: KeyFormProps) {
  const { scopes } = useSession();
  const { error } = mutation;
  const kept = initial?.expiresUtc ?? undefined;
  const stored = {
    name: (initial ?? preset)?.name ?? '',
    note: initial?.note ?? '',
    scopes: (initial ?? preset)?.scopes ?? [],
    expiry: kept === undefined ? 'never' : 'kept',
  };
  const draft = useDraft(form, stored, labels);
  const { name, note, scopes: chosen, expiry } = draft.values;
  const toggle = (scope: Scope, on: boolean): void =>
    draft.set({ scopes: on ? [...chosen, scope] : chosen.filter((one) => one !== scope) });
  const save = (): void =>
    mutation.mutate({
      draft: {
        name,
        note: note.trim() || null,
        scopes: [...chosen],
        expiresUtc: expiry === 'kept' ? undefined : expiresAfter(Number(expiry)),
      },
      known: { name: draft.base.name, note: draft.base.note || null, scopes: [...draft.base.scopes] },
    });
  return (
    <Form
      draft={draft}
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
        <TextInput value={name} maxLength={100} onValue={(value) => draft.set({ name: value })} />
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
          onValue={(value) => draft.set({ expiry: value })}
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
        <TextArea rows={2} value={note} maxLength={500} onValue={(value) => draft.set({ note: value })} />
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
