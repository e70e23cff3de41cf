import { z } from 'zod';
import { idParameter } from '../schemas/fields.ts';
import { codePoints, fieldName, text, valueRule } from '../schemas/values.ts';
import { maxPasswordCharacters, minPasswordCharacters } from './passwords.ts';

/** Not trimmed: blanks are part of it. The upper bound keeps hashing cheap. */
export const newPassword = z
  .string()
  .check(
    valueRule((value) => {
      const length = codePoints(value);
      const must = `${fieldName} must be at`;
      if (length < minPasswordCharacters)
        return { code: 'too_short', message: `${must} least ${minPasswordCharacters} characters` };
      return length > maxPasswordCharacters
        ? { code: 'too_long', message: `${must} most ${maxPasswordCharacters} characters` }
        : undefined;
    }),
  )
  .meta({ minLength: minPasswordCharacters, maxLength: maxPasswordCharacters });

export const password = z
  .string()
  .min(1, { error: `${fieldName} is required` })
  .max(1000);

/** RFC 6238. Some apps show blanks between the digits. */
export const totpCode = z
  .string()
  .transform((code) => code.replace(/\s/g, ''))
  .check(
    valueRule((code) =>
      /^\d{6}$/.test(code)
        ? undefined
        : { code: 'invalid_characters', message: `${fieldName} must be 6 digits` },
    ),
  );

export const recoveryCode = z.string().trim().min(1).max(50);

export const memberName = text({ min: 1, max: 100, oneLine: true });

export const cursorParameter = z
  .string()
  .regex(/^[\w-]{1,200}$/, { error: 'invalid cursor' })
  .optional()
  .meta({ description: 'The `nextCursor` of an earlier answer. Opaque.' });

export const numberList = (most: number) =>
  z
    .string()
    .regex(new RegExp(`^\\d{1,15}(,\\d{1,15}){0,${most - 1}}$`), {
      error: `${fieldName} must be up to ${most} numbers with commas between them`,
    })
    .transform((list) => list.split(',').map(Number))
    .meta({ type: 'string' });

export const nextPage = {
  nextCursor: z.string().nullable().meta({ description: 'Cursor of the next page; null at the end.' }),
  hasMore: z.boolean(),
};

/** Only events whose payload names the record at its top level, in these fields. Compared exactly, an email without case. */
export const recordParameters = {
  clientId: idParameter.optional(),
  invoiceId: idParameter.optional(),
  email: text({ min: 1, max: 254 }).optional(),
  externalId: text({ min: 1, max: 100 }).optional(),
};

export const instantParameter = z
  .preprocess(
    (given) => (typeof given === 'string' && given.length <= longestTime ? withWholeOffset(given) : given),
    z.iso.datetime({
      offset: true,
      error: ({ input }) =>
        `${fieldName} must be an ISO 8601 time with its offset${/ \d\d(?::?\d\d)?$/.test(String(input)) ? '; in a URL, its + must be %2B' : ''}`,
    }),
  )
  .transform((value) => new Date(value))
  .optional();

/** The expressions below would take the square of a long text's length. */
const longestTime = 64;

/** As RFC 3339 and Python's `%z` write times too: in lower case, `+0530`, `+05`; a leap second is the millisecond before. */
const withWholeOffset = (text: string): string =>
  text
    .toUpperCase()
    .replace(/(T.*[+-]\d\d)(?::?(\d\d))?$/, (_, hours, minutes = '00') => `${hours}:${minutes}`)
    .replace(/^(.*T..:..:)60(?:\.\d+)?(.*)$/, (time, minute, zone) => {
      const before = new Date(`${minute}59.999${zone}`);
      return /T23:59:/.test(Number.isNaN(before.getTime()) ? '' : before.toISOString())
        ? `${minute}59.999${zone}`
        : time;
    });

export const ranges = ['1h', '24h', '7d', '30d'] as const;
export type Range = (typeof ranges)[number];
export const rangeMinutes: Readonly<Record<Range, { readonly total: number; readonly step: number }>> = {
  '1h': { total: 60, step: 1 },
  '24h': { total: 1440, step: 30 },
  '7d': { total: 10_080, step: 180 },
  '30d': { total: 43_200, step: 720 },
};
export const rangeParameter = z
  .enum(ranges, { error: `${fieldName} must be one of ${ranges.join(', ')}` })
  .default('24h');
