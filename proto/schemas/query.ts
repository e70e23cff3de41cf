import { z } from 'zod';
import { fieldName } from './text.ts';

/** Query parameters. They parse text into values; the documentation (`meta`) describes the value. */

interface Range {
  readonly min: number;
  readonly max: number;
  readonly otherwise: number;
}

/** The maximum number of items to return, with a default. */
export const limitParameter = ({ min, max, otherwise }: Range) =>
  z
    .string()
    .transform((value, context) => {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      if (number >= min && number <= max) return number;
      context.issues.push({
        code: 'custom',
        input: value,
        message: `${fieldName} must be an integer between ${min} and ${max}`,
      });
      return z.NEVER;
    })
    .default(otherwise)
    .meta({
      type: 'integer',
      minimum: min,
      maximum: max,
      default: otherwise,
      description: 'Maximum number of items to return.',
    });

/** The id of a record as a query parameter. */
export const idParameter = z
  .string()
  .transform((value, context) => {
    const number = /^[1-9]\d{0,15}$/.test(value) ? Number(value) : Number.NaN;
    if (Number.isSafeInteger(number)) return number;
    context.issues.push({ code: 'custom', input: value, message: `${fieldName} must be a positive integer` });
    return z.NEVER;
  })
  .meta({ type: 'integer', minimum: 1 });
