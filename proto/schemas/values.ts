import { z } from 'zod';
import type { DetailCode } from '../errors.ts';

/** Stands for the path of the value in messages; `parse.ts` fills it in. */
export const fieldName = '{field}';

interface TextRule {
  /** In code points after trimming, as MySQL's VARCHAR and JSON Schema count. */
  readonly min?: number;
  readonly max: number;
  readonly oneLine?: boolean;
  readonly description?: string;
}

/** If at least one character is required, a blank text counts as missing. */
export const text = ({ min = 0, max, oneLine = false, description }: TextRule) =>
  z
    .string()
    .trim()
    .check(valueRule((value) => textFault(value, min, max, oneLine)))
    .meta({ ...(min > 0 && { minLength: min }), maxLength: max, ...(description && { description }) });

/** A blank text means null (contract, "Requests and errors"). */
export const optionalText = (rule: TextRule) =>
  text(rule)
    .transform((value) => (isBlank(value) ? null : value))
    .nullish();

export const codePoints = (value: string): number => {
  let count = 0;
  for (const _ of value) count++;
  return count;
};

export const cut = (value: string, maxCodePoints: number): string => {
  if (value.length <= maxCodePoints) return value;
  let end = 0;
  for (let left = maxCodePoints; left > 0 && end < value.length; left--)
    end += (value.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return value.slice(0, end);
};

export const echo = (name: string): string => {
  const start = cut(name, maxEchoed);
  return (start.length < name.length ? `${start}…` : name).toWellFormed();
};
const maxEchoed = 100;

/** `"–", U+2013`; without the character itself if it is not visible. */
export const characterName = (character: string): string => {
  const code = `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
  return /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(character) && !isBlank(character)
    ? `"${character}", ${code}`
    : code;
};

export const isBlank = (value: string): boolean => !visible.test(value);
const visible = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]/u;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const control = /[\u0000-\u001f\u007f-\u009f]/;

function textFault(value: string, min: number, max: number, oneLine: boolean): Fault | undefined {
  const length = codePoints(value);
  const fault = (code: DetailCode, sentence: string) => ({ code, message: `${fieldName} ${sentence}` });
  if (length === 0 && min > 0) return fault('required', 'is required');
  if (length < min) return fault('too_short', `must be at least ${min} characters (actual: ${length})`);
  if (length > max) return fault('too_long', `must be at most ${max} characters (actual: ${length})`);
  if (oneLine && control.test(value))
    return fault('invalid_characters', 'must not contain control characters');
  if (min > 0 && isBlank(value)) return fault('required', 'must have at least one visible character');
  return undefined;
}

export const id = z.int().min(1);
export const count = z.int().min(0).meta({ description: 'Number of items in this answer.' });
/** How many active records of this name the caller knows; if there are others, a create is refused with 409. */
export const sameName = z.strictObject({ sameName: count }).optional();
export const instant = z.iso.datetime().meta({ description: 'ISO 8601, UTC.' });

interface Checked {
  readonly value: Readonly<Record<string, unknown>>;
  readonly issues: z.core.$ZodRawIssue[];
}

export interface Fault {
  readonly field?: string;
  readonly code: DetailCode;
  readonly message: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** What zod reports about a rule that is not its own. */
export const issueOf = (input: unknown, { field, code, message, extra }: Fault) => ({
  code: 'custom' as const,
  input,
  path: field === undefined ? [] : [field],
  message,
  params: { code, ...(extra && { extra }) },
});

/** A rule about one value. */
export const valueRule =
  <Value>(faultOf: (value: Value) => Fault | undefined) =>
  ({ value, issues }: z.core.ParsePayload<Value>): void => {
    const fault = faultOf(value);
    if (fault) issues.push(issueOf(value, fault));
  };

/** A rule about several fields, checked even if single fields are invalid (they then hold what was sent). */
export const rule = (faultOf: (value: Checked['value'], issues: Checked['issues']) => Fault | undefined) =>
  z.core._check(
    ({ value, issues }: Checked) => {
      const fault = faultOf(value, issues);
      if (fault) issues.push(issueOf(value, fault));
    },
    { when: ({ value }) => typeof value === 'object' && value !== null },
  );
