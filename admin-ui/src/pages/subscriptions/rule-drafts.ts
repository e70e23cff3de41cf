import type { Input } from '../../model/client.ts';
import type { Subscription } from '../../model/subscriptions.ts';

export type Condition = NonNullable<Subscription['conditions']>[number];

/** As people read them. */
export const operators = {
  equals: 'equals',
  in: 'is one of',
  exists: 'exists',
  missing: 'does not exist',
  startsWith: 'starts with',
  min: 'at least',
  max: 'at most',
  between: 'between',
} as const;
type Operator = keyof typeof operators;

/** `value` is what is typed: of `in` one value a line, of `between` both bounds. */
export interface ConditionRow {
  readonly field: string;
  readonly operator: Operator;
  readonly value: string;
}

/** Null: the stored value stays. */
export interface HeaderRow {
  readonly name: string;
  readonly value: string | null;
}

export interface RulesDraft {
  readonly conditions: readonly ConditionRow[];
  readonly pace: { readonly limit: string; readonly per: 'none' | 'second' | 'minute' };
  readonly headers: readonly HeaderRow[];
}

export const noRules: RulesDraft = { conditions: [], pace: { limit: '', per: 'none' }, headers: [] };

/** By name, of an event's sample. */
export type Kinds = Readonly<Record<string, string>>;

export const rulesDraftOf = ({ conditions = [], pace, headerNames = [] }: Subscription): RulesDraft => ({
  conditions: conditions.map(rowOf),
  pace: pace ? { limit: String(pace.limit), per: pace.per } : noRules.pace,
  headers: headerNames.map((name) => ({ name, value: null })),
});

const rowOf = ({ field, equals, in: values, exists, startsWith, min, max }: Condition): ConditionRow => {
  if (equals !== undefined) return { field, operator: 'equals', value: String(equals) };
  if (values !== undefined) return { field, operator: 'in', value: values.join('\n') };
  if (exists !== undefined) return { field, operator: exists ? 'exists' : 'missing', value: '' };
  if (startsWith !== undefined) return { field, operator: 'startsWith', value: startsWith };
  if (min !== undefined && max !== undefined) return { field, operator: 'between', value: `${min} ${max}` };
  return min === undefined
    ? { field, operator: 'max', value: String(max) }
    : { field, operator: 'min', value: String(min) };
};

export const conditionsOf = (rows: readonly ConditionRow[], kinds: Kinds): Condition[] =>
  rows.map(({ field, operator, value }) => {
    const typed = (text: string) => scalarOf(text, kinds[field]);
    if (operator === 'equals') return { field, equals: typed(value) };
    if (operator === 'in') return { field, in: value.split('\n').filter(Boolean).map(typed) };
    if (operator === 'exists' || operator === 'missing') return { field, exists: operator === 'exists' };
    if (operator === 'startsWith') return { field, startsWith: value };
    const [first, second] = value
      .trim()
      .split(/\s+/)
      .map((text) => numberOf(text) as number);
    if (operator === 'between') return { field, min: first, max: second };
    return { field, [operator]: first };
  });

const scalarOf = (text: string, kind: string | undefined): string | number | boolean => {
  if (kind === 'boolean' && /^(?:true|false)$/.test(text)) return text === 'true';
  return kind === 'number' ? numberOf(text) : text;
};

/** The server says what is wrong with a text that is no number. */
const numberOf = (text: string): string | number =>
  text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);

export const paceOf = ({ limit, per }: RulesDraft['pace']) =>
  per === 'none' ? null : { limit: numberOf(limit) as number, per };

/** What changes from the names that were known: a value to set, null to remove. */
export const headersOf = (
  known: readonly HeaderRow[],
  rows: readonly HeaderRow[],
): NonNullable<Input<'createPortalSubscription'>['body']['headers']> =>
  Object.fromEntries([
    ...known.filter(({ name }) => !rows.some((row) => row.name === name)).map(({ name }) => [name, null]),
    ...rows.flatMap(({ name, value }) => (value === null ? [] : [[name.trim(), value]])),
  ]);
