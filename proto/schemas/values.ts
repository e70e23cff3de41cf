import { z } from 'zod';

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
    .check((context) => {
      const problem = textProblem(context.value, min, max, oneLine);
      if (problem) context.issues.push({ code: 'custom', input: context.value, message: problem });
    })
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

function textProblem(value: string, min: number, max: number, oneLine: boolean): string | undefined {
  const length = codePoints(value);
  if (length === 0 && min > 0) return `${fieldName} is required`;
  if (length < min) return `${fieldName} must be at least ${min} characters (actual: ${length})`;
  if (length > max) return `${fieldName} must be at most ${max} characters (actual: ${length})`;
  if (oneLine && control.test(value)) return `${fieldName} must not contain control characters`;
  if (min > 0 && isBlank(value)) return `${fieldName} must have at least one visible character`;
  return undefined;
}

export const id = z.int().min(1);
export const count = z.int().min(0).meta({ description: 'Number of items in this answer.' });
export const instant = z.iso.datetime().meta({ description: 'ISO 8601, UTC.' });

interface Checked {
  readonly value: Readonly<Record<string, unknown>>;
  readonly issues: z.core.$ZodRawIssue[];
}

interface Fault {
  readonly field?: string;
  readonly message: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** A rule about several fields, checked even if single fields are invalid (they then hold what was sent). */
export const rule = (faultOf: (value: Checked['value'], issues: Checked['issues']) => Fault | undefined) =>
  z.core._check(
    ({ value, issues }: Checked) => {
      const fault = faultOf(value, issues);
      if (!fault) return;
      const { field, message, extra } = fault;
      issues.push({
        code: 'custom',
        input: value,
        path: field === undefined ? [] : [field],
        message,
        ...(extra && { params: { extra } }),
      });
    },
    { when: ({ value }) => typeof value === 'object' && value !== null },
  );
