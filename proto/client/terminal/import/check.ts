import { convertedTo } from '../../values.ts';
import type { Row } from './rows.ts';

/** What the interface's document says of a field. */
export interface FieldRule {
  readonly type: 'string' | 'integer' | 'number' | 'boolean';
  readonly required?: true;
  readonly isOptional?: true;
  readonly isEmail?: true;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
}

export type Rules = Readonly<Record<string, FieldRule>>;
export type Mode = 'create' | 'update' | 'upsert';

/** The column that a file of refused rows has besides. */
export const reasonColumn = 'import_error';

export interface Columns {
  readonly fields: ReadonlyMap<string, string>;
  /** Sentences, if the columns cannot be imported. */
  readonly faults: readonly string[];
}

/** Matches columns by name, whatever their case, spaces and signs: `First name` is `first_name`. */
export const matchColumns = (
  columns: readonly string[],
  rules: Rules,
  ignored: ReadonlySet<string>,
): Columns => {
  const plain = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  const byPlain = new Map(Object.keys(rules).map((name) => [plain(name), name]));
  const fields = new Map<string, string>();
  const faults: string[] = [];
  const seen = new Set<string>();
  for (const column of columns) {
    const field = byPlain.get(plain(column));
    if (seen.has(column)) faults.push(`the column "${column}" is there twice`);
    else if (ignored.has(column) || column === reasonColumn) continue;
    else if (field === undefined)
      faults.push(`the column "${column}" is no field: rename it, or leave it out by --ignore "${column}"`);
    else if ([...fields.values()].includes(field))
      faults.push(`the column "${column}" is the field ${field}, which another column is too`);
    else fields.set(column, field);
    seen.add(column);
  }
  return { fields, faults };
};

interface CheckedRow {
  readonly item: Readonly<Record<string, unknown>>;
  readonly problems: readonly string[];
}

/** A blank is left out of a create, and empties the field in an update. */
export const checkRow = (
  { values, fault }: Row,
  columns: Columns,
  rules: Rules,
  mode: Mode,
  idName: string,
): CheckedRow => {
  const item: Record<string, unknown> = {};
  const problems: string[] = fault === undefined ? [] : [fault];
  for (const [column, name] of columns.fields) {
    if (!Object.hasOwn(values, column)) continue;
    const rule = rules[name]!;
    const value = convertedTo(rule.type, values[column]);
    const isKey = name === idName || name === 'external_id';
    if (value === null && (mode === 'create' || isKey)) continue;
    item[name] = value;
    const problem = value === null ? blankProblem(rule) : problemOf(rule, value);
    if (problem) problems.push(`${name} ${problem}`);
  }
  const isNew =
    mode === 'create' || (mode === 'upsert' && item[idName] === undefined && item.external_id === undefined);
  if (isNew)
    for (const [name, { required }] of Object.entries(rules))
      if (required && !(name in item)) problems.push(`${name} is required`);
  return { item, problems };
};

const blankProblem = ({ isOptional }: FieldRule): string | undefined =>
  isOptional ? undefined : 'is required';

const problemOf = (rule: FieldRule, value: unknown): string | undefined => {
  const { type, minLength = 0, maxLength, minimum, maximum, pattern, isEmail } = rule;
  if (type === 'integer' ? !Number.isSafeInteger(value) : typeof value !== type)
    return type === 'boolean'
      ? 'must be true or false'
      : `must be a ${type === 'string' ? 'text' : 'number'}`;
  if (typeof value === 'number') {
    const isLow = minimum !== undefined && value < minimum;
    return isLow || (maximum !== undefined && value > maximum)
      ? `must be from ${minimum} to ${maximum}`
      : undefined;
  }
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  // Surrogates count once, as in the interface.
  const length = text.length > 20_000 ? text.length : [...text].length;
  if (maxLength !== undefined && length > maxLength)
    return `must be at most ${maxLength} characters (actual: ${length})`;
  if (length < minLength) return `must be at least ${minLength} characters (actual: ${length})`;
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(text))
    return 'has characters that are not allowed';
  return isEmail && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text) ? 'must be one valid email address' : undefined;
};
