import { useQuery } from '@tanstack/react-query';
import clsx from 'clsx';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { operationQuery } from '../../model/client.ts';
import { eventTypesQuery } from '../../model/queries.ts';
import type { EventType } from '../../model/subscriptions.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { ApiError, sentence } from '../../ui/errors.ts';
import { Field, Fieldset, Select, TextArea, TextInput } from '../../ui/form.tsx';
import { plural } from '../../ui/format.ts';
import { Row } from '../../ui/layout.tsx';
import { useDebounced } from '../../ui/toolbar.tsx';
import {
  type ConditionRow,
  conditionsOf,
  type HeaderRow,
  type Kinds,
  operators,
  paceOf,
  type RulesDraft,
} from './rule-drafts.ts';
import s from './rule-fields.module.css';
import { conditionText, paceText } from './subscription-rules.tsx';

/** The fields that all of these event types have. */
export const useKinds = (types: readonly EventType[]): Kinds => {
  const all = useQuery(eventTypesQuery).data?.eventTypes ?? [];
  const [first, ...others] = all.filter(({ type }) => types.includes(type)).map(({ sample }) => sample);
  const shared = Object.entries(first ?? {}).filter(([name]) => others.every((one) => name in one));
  return Object.fromEntries(shared.map(([name, value]) => [name, typeof value]));
};

/** The rules of a draft as people read them; of a header only its name, as the value is secret. */
export const useRuleWords = (types: readonly EventType[]) => {
  const kinds = useKinds(types);
  return (name: string, value: unknown): string | undefined => {
    if (name === 'conditions')
      return conditionsOf(value as RulesDraft['conditions'], kinds)
        .map(conditionText)
        .join('\n');
    if (name === 'headers') return (value as RulesDraft['headers']).map((row) => row.name).join(', ');
    if (name !== 'pace') return undefined;
    const pace = paceOf(value as RulesDraft['pace']);
    return pace === null ? 'None' : paceText(pace);
  };
};

const messageAt = (error: unknown, isThere: (field: string, message: string) => boolean) => {
  if (!(error instanceof ApiError)) return undefined;
  const found = error.details.find(({ field, message }) => isThere(field, message));
  // Of a path such as `conditions[1].min` people need the last part at most, which is beside the message.
  return found && sentence(found.message.replace(/\b(?:conditions\[|pace\.)\S+ (?=must )/, ''));
};

interface PartProps {
  readonly title: string;
  readonly hint: string;
  readonly isOpen: boolean;
  readonly error: string | undefined;
  readonly children: ReactNode;
}

function Part({ title, hint, isOpen, error, children }: PartProps) {
  return (
    <details className={s.part} open={isOpen || error !== undefined}>
      <summary>{title}</summary>
      <div className={s.body}>
        <Fieldset legend={hint} error={error}>
          <div className={s.body}>{children}</div>
        </Fieldset>
      </div>
    </details>
  );
}

interface RuleFieldsProps {
  readonly types: readonly EventType[];
  readonly value: RulesDraft;
  readonly onChange: (change: Partial<RulesDraft>) => void;
  readonly error: unknown;
}

export function RuleFields({ types, value, onChange, error }: RuleFieldsProps) {
  return (
    <>
      <FilterPart
        types={types}
        rows={value.conditions}
        onChange={(conditions) => onChange({ conditions })}
        error={error}
      />
      <PacePart pace={value.pace} onChange={(pace) => onChange({ pace })} error={error} />
      <HeadersPart rows={value.headers} onChange={(headers) => onChange({ headers })} error={error} />
    </>
  );
}

const replaced = <T,>(all: readonly T[], at: number, change: Partial<T>): readonly T[] =>
  all.map((one, index) => (index === at ? { ...one, ...change } : one));

const without = <T,>(all: readonly T[], at: number): readonly T[] => all.filter((_, index) => index !== at);

interface RowsProps<T> {
  readonly rows: readonly T[];
  readonly onChange: (rows: readonly T[]) => void;
  readonly error: unknown;
}

const needsValue = ({ operator }: ConditionRow) => operator !== 'exists' && operator !== 'missing';

function FilterPart({
  types,
  rows,
  onChange,
  error,
}: RowsProps<ConditionRow> & { readonly types: readonly EventType[] }) {
  const kinds = useKinds(types);
  const isComplete = rows.every((row) => row.field !== '' && (!needsValue(row) || row.value.trim() !== ''));
  const asked = useDebounced(JSON.stringify({ types, rows, isComplete }), 400);
  const isAsked = isComplete && rows.length > 0 && types.length > 0;
  const preview = useQuery({
    ...operationQuery('previewConditions', {
      body: { eventTypes: [...types], conditions: conditionsOf(rows, kinds) },
    }),
    enabled: isAsked && asked === JSON.stringify({ types, rows, isComplete }),
    retry: false,
  });
  const problem = isAsked && preview.error ? preview.error : error;
  const names = Object.keys(kinds);
  const hints: Partial<Record<ConditionRow['operator'], string>> = {
    in: 'One value a line',
    between: 'Two numbers, such as 10 50',
  };
  const { matched = 0, events = 0 } = preview.data ?? {};
  return (
    <Part
      title="Filter"
      hint="Only events that meet all conditions are sent."
      isOpen={rows.length > 0}
      error={messageAt(problem, (field) => field === 'conditions')}
    >
      {rows.map((row, at) => {
        const set = (change: Partial<ConditionRow>) => onChange(replaced(rows, at, change));
        const shown = names.includes(row.field) || row.field === '' ? names : [row.field, ...names];
        const path = `conditions[${at}]`;
        const isOfValue = (field: string) =>
          needsValue(row) && field.startsWith(`${path}.`) && field !== `${path}.field`;
        const Value = row.operator === 'in' ? TextArea : TextInput;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity, and their controls no state
          <div key={at} className={s.row}>
            <Field
              label="Field"
              error={messageAt(problem, (field) => field.startsWith(path) && !isOfValue(field))}
            >
              <Select
                value={row.field}
                onValue={(field) => set({ field })}
                options={shown.map((name) => ({ value: name, label: name }))}
              />
            </Field>
            <Field label="Operator">
              <Select
                value={row.operator}
                onValue={(operator) => set({ operator: operator as ConditionRow['operator'] })}
                options={Object.entries(operators).map(([value, label]) => ({ value, label }))}
              />
            </Field>
            {needsValue(row) && (
              <Field label="Value" hint={hints[row.operator]} error={messageAt(problem, isOfValue)}>
                <Value value={row.value} onValue={(text) => set({ value: text })} />
              </Field>
            )}
            <IconButton label="Remove condition" icon={<X />} onClick={() => onChange(without(rows, at))} />
          </div>
        );
      })}
      <Row>
        <Button
          size="s"
          disabledReason={names.length === 0 ? 'First choose event types that share a field' : undefined}
          onClick={() => onChange([...rows, { field: names[0] ?? '', operator: 'equals', value: '' }])}
        >
          Add condition
        </Button>
      </Row>
      <p className={s.quiet} role="status">
        {isAsked && preview.data && (
          <>
            {matched} of your last {plural(events, '# event')} would have matched
          </>
        )}
      </p>
    </Part>
  );
}

interface PacePartProps {
  readonly pace: RulesDraft['pace'];
  readonly onChange: (pace: RulesDraft['pace']) => void;
  readonly error: unknown;
}

function PacePart({ pace, onChange, error }: PacePartProps) {
  return (
    <Part
      title="Pace"
      hint="Deliveries wait rather than arrive faster than this."
      isOpen={pace.per !== 'none'}
      error={messageAt(error, (field) => field === 'pace')}
    >
      <div className={clsx(s.row, s.pair)}>
        <Field label="Limit">
          <Select
            value={pace.per}
            onValue={(per) => onChange({ ...pace, per: per as RulesDraft['pace']['per'] })}
            options={[
              { value: 'none', label: 'None' },
              { value: 'second', label: 'Per second' },
              { value: 'minute', label: 'Per minute' },
            ]}
          />
        </Field>
        {pace.per !== 'none' && (
          <Field label="At most" error={messageAt(error, (field) => field.startsWith('pace.'))}>
            <TextInput
              inputMode="numeric"
              value={pace.limit}
              onValue={(limit) => onChange({ ...pace, limit })}
            />
          </Field>
        )}
      </div>
    </Part>
  );
}

function HeadersPart({ rows, onChange, error }: RowsProps<HeaderRow>) {
  const isOf = (name: string) => (field: string, message: string) =>
    name !== '' && (field.includes(name) || (field === 'headers' && message.includes(name)));
  const isKnown = rows.some(({ name }) => messageAt(error, isOf(name)) !== undefined);
  return (
    <Part
      title="Headers"
      hint="Sent with every delivery. Values are secret and not shown again."
      isOpen={rows.length > 0}
      error={isKnown ? undefined : messageAt(error, (field) => /^headers\b/.test(field))}
    >
      {rows.map(({ name, value }, at) => {
        const set = (change: Partial<HeaderRow>) => onChange(replaced(rows, at, change));
        const remove = () => onChange(without(rows, at));
        return value === null ? (
          <div key={name} className={s.known}>
            <code>{name}</code>
            <Button size="s" onClick={() => set({ value: '' })}>
              Set new value
            </Button>
            <IconButton label="Remove header" icon={<X />} onClick={remove} />
          </div>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity, and their controls no state
          <div key={at} className={clsx(s.row, s.pair)}>
            <Field label="Header name" error={messageAt(error, isOf(name))}>
              <TextInput mono value={name} onValue={(text) => set({ name: text })} />
            </Field>
            <Field label="Header value">
              <TextInput
                type="password"
                autoComplete="new-password"
                value={value}
                onValue={(text) => set({ value: text })}
              />
            </Field>
            <IconButton label="Remove header" icon={<X />} onClick={remove} />
          </div>
        );
      })}
      <Row>
        <Button
          size="s"
          disabledReason={rows.length >= 20 ? 'At most 20 headers' : undefined}
          onClick={() => onChange([...rows, { name: '', value: '' }])}
        >
          Add header
        </Button>
      </Row>
    </Part>
  );
}
