import { z } from 'zod';
import { characterName, fieldName, issueOf, optionalText, text, valueRule } from './values.ts';

/** Contract, "Fields". Rules made with `optionalText` or `nullish` accept null for "no value". */

/** One message for every wrong value. A missing value still gets "is required". */
const unlessMissing = (sentence: string) => (issue: { readonly input?: unknown }) =>
  issue.input === undefined ? undefined : `${fieldName} ${sentence}`;

const positive = { error: unlessMissing('must be a positive integer') };
export const recordId = z.int(positive).min(1, positive);
export const optionalRecordId = recordId.nullish();

export const personName = text({ min: 1, max: 100, oneLine: true }).meta({
  pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]*$',
  description: 'At least one visible character, no control characters.',
});

// RFC 5322 dot-atom with letters of any script (RFC 6531); labels may have combining marks (RFC 5892). No top-level domain is
// a number, and an IP address would need brackets.
const address =
  /^[^\s@<>(),;:\\"[\]\p{Cc}.]+(?:\.[^\s@<>(),;:\\"[\]\p{Cc}.]+)*@(?:[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?\.)+(?!\p{N}+$)[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?$/u;
const maxAddressBytes = 254;
const maxLocalPartBytes = 64;

const isEmail = (value: string): boolean =>
  Buffer.byteLength(value) <= maxAddressBytes &&
  Buffer.byteLength(value.slice(0, value.lastIndexOf('@'))) <= maxLocalPartBytes &&
  address.test(value) &&
  hiddenAt(value) < 0;

/** Two addresses that look alike must not differ by what nobody sees. */
const hidden = /^[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\u2800]$/u;
const hiddenAt = (value: string): number => [...value].findIndex((character) => hidden.test(character));

const emailProblem = (value: string): string => {
  if (value.startsWith('"')) return '; a local part in quotes is not supported';
  const at = hiddenAt(value);
  return at < 0 ? '' : ` (character ${at + 1} is ${characterName([...value][at]!)})`;
};

export const email = z
  .string()
  .trim()
  .min(1, { error: `${fieldName} is required` })
  .check(
    valueRule((value) => {
      if (value === '' || isEmail(value)) return undefined;
      const message = `${fieldName} must be one valid email address${emailProblem(value)}`;
      return { code: 'email_invalid', message };
    }),
  )
  .meta({ format: 'email', maxLength: maxAddressBytes });

const digitsOf = (phone: string): string => phone.replace(/\D/g, '');

const phoneRule = `${fieldName} must be 3 to 32 characters of digits, space and +()-./x, with at least 3 digits`;
/** RFC 3966, and the usual marks of an extension. Each stands for `x`. */
const phoneMarks = /^tel:|;ext=|ext(?:n|ension)?|int|[#X]/gi;
const phoneProblem = (sent: string): string | undefined => {
  const value = sent.replace(phoneMarks, (mark) => 'x'.repeat(mark.length));
  const characters = [...value];
  const at = characters.findIndex((character) => !/^[0-9 +()\-./x]$/.test(character));
  if (at >= 0) return ` (character ${at + 1} is ${characterName(characters[at]!)})`;
  if (characters.length > 32) return ` (actual: ${characters.length} characters)`;
  const digits = digitsOf(value).length;
  return digits < 3 ? ` (actual: ${digits} digits)` : undefined;
};

const phoneSign = '[ +()./xX#-]|[eE][xX][tT](?:[nN]|[eE][nN][sS][iI][oO][nN])?|;[eE][xX][tT]=|[iI][nN][tT]';
const phonePattern = ` *(?:[tT][eE][lL]:)?${`(?:${phoneSign})*[0-9]`.repeat(3)}(?:${phoneSign}|[0-9])*`;
export const phone = z
  .string()
  .trim()
  .check(
    valueRule((value) => {
      const problem = phoneProblem(value);
      return problem ? { code: 'phone_invalid', message: `${phoneRule}${problem}` } : undefined;
    }),
  )
  .meta({
    minLength: 3,
    maxLength: 32,
    pattern: `^${phonePattern}$`,
    description:
      'Digits, space and +()-./x, at least 3 digits; also `tel:`, and an extension after `ext.`, `#` and the like.',
  });
export const optionalPhone = phone.meta({ minLength: 0, pattern: `^(${phonePattern}|\\s*)$` }).nullish();

export const city = optionalText({ max: 100, description: 'City of the address.' });
export const state = optionalText({ max: 64, description: 'State of the address.' });
export const zip = optionalText({ max: 16, description: 'Postal code of the address.' });

/** A new detail is added here, with its example, for all operations. */
export const personDetails = { city, state, zip };
export const personDetailsExample = {
  city: 'Hampton',
  state: 'Virginia',
  zip: '23666',
} satisfies Record<keyof typeof personDetails, string>;

export const packageKeyword = optionalText({ max: 100 });
export const externalId = optionalText({
  max: 100,
  description:
    "The caller's own identifier. A create with the identifier of an existing record updates that record instead.",
});
export const affiliateCode = optionalText({
  max: 100,
  description: 'Unique in the company; 8 characters are generated if it is absent.',
});
export const affiliateCompanyName = optionalText({ max: 200 });

const rateSentence = 'must be a number from 0 to 100 with at most 2 decimals';
const rateRule = { error: unlessMissing(rateSentence) };
export const commissionRate = z
  .number(rateRule)
  .min(0, rateRule)
  .max(100, rateRule)
  .check(
    valueRule((value) =>
      Math.round(value * 100) / 100 === value
        ? undefined
        : { code: 'out_of_range', message: `${fieldName} ${rateSentence}` },
    ),
  )
  .meta({ description: 'Per cent, at most 2 decimals.' })
  .nullish();

export const flag = z.boolean();

export const statusNote = optionalText({ max: 2000 });
export const noteText = text({ min: 1, max: 10_000 });
export const noteType = optionalText({ max: 50, description: 'Any label; `general` if absent.' });
export const visibility = optionalText({ max: 50, description: 'Any label; `internal` if absent.' });

export type StatusReference = { readonly id: number } | { readonly name: string };

/** No status name is all digits, so a text of digits is an ID that a tool sent as text. */
export const statusReference = z
  .union([z.int().min(1), text({ min: 1, max: 100 })], {
    error: `${fieldName} must be a status ID or a status name`,
  })
  .transform((value): StatusReference => {
    if (typeof value === 'number') return { id: value };
    const id = /^[1-9]\d{0,15}$/.test(value) ? Number(value) : Number.NaN;
    return Number.isSafeInteger(id) ? { id } : { name: value };
  });

interface LimitRange {
  readonly min: number;
  readonly max: number;
  readonly otherwise: number;
}

export const limitParameter = ({ min, max, otherwise }: LimitRange) =>
  z
    .string()
    .transform((value, context) => {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      if (number >= min && number <= max) return number;
      const message = `${fieldName} must be an integer between ${min} and ${max}`;
      context.issues.push(issueOf(value, { code: 'out_of_range', message }));
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

/** Contract, "Waiting". */
export const waitParameter = limitParameter({ min: 0, max: 25, otherwise: 0 }).meta({
  description:
    'Seconds. At the end of the list, the answer waits until there is something for it, and gathers more for up to a second; at most this long.',
});

export const idParameter = z
  .string()
  .transform((value, context) => {
    const number = /^[1-9]\d{0,15}$/.test(value) ? Number(value) : Number.NaN;
    if (Number.isSafeInteger(number)) return number;
    const message = `${fieldName} must be a positive integer`;
    context.issues.push(issueOf(value, { code: 'out_of_range', message }));
    return z.NEVER;
  })
  .meta({ type: 'integer', minimum: 1 });
