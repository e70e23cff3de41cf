import { z } from 'zod';

/**
 * In every text of a schema, `{field}` stands for the path of the value it is about; `parse.ts` fills it
 * in, so that one rule serves fields of any name.
 */
export const fieldName = '{field}';

interface TextRule {
  /** Counted in code points after trimming, as MySQL's VARCHAR and JSON Schema count. */
  readonly min?: number;
  readonly max: number;
  /** Refuse control characters, line breaks included. */
  readonly oneLine?: boolean;
  readonly description?: string;
}

/** A trimmed text. A blank one where at least one character is asked for reads as a missing one. */
export const text = ({ min = 0, max, oneLine = false, description }: TextRule) =>
  z
    .string()
    .trim()
    .check((context) => {
      const problem = textProblem(context.value, min, max, oneLine);
      if (problem) context.issues.push({ code: 'custom', input: context.value, message: problem });
    })
    .meta({ ...(min > 0 && { minLength: min }), maxLength: max, ...(description && { description }) });

/** A trimmed text that may be blank; blank means the same as null: no value. */
export const optionalText = (rule: TextRule) =>
  text(rule)
    .transform((value) => (value === '' ? null : value))
    .nullish();

export const codePoints = (value: string): number => {
  let count = 0;
  for (const _ of value) count++;
  return count;
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const control = /[\u0000-\u001f\u007f-\u009f]/;

function textProblem(value: string, min: number, max: number, oneLine: boolean): string | undefined {
  const length = codePoints(value);
  if (length === 0 && min > 0) return `${fieldName} is required`;
  if (length < min) return `${fieldName} must be at least ${min} characters (actual: ${length})`;
  if (length > max) return `${fieldName} must be at most ${max} characters (actual: ${length})`;
  if (oneLine && control.test(value)) return `${fieldName} must not contain control characters`;
  return undefined;
}
