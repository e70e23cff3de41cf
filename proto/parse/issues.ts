import type { z } from 'zod';
import type { Detail, DetailCode } from '../errors.ts';
import { echo, fieldName } from '../schemas/values.ts';
import { maxDetails } from './scan-json.ts';

/** Replaces zod's messages, because callers read them. */
export const explain = (issue: z.core.$ZodRawIssue): string => `${fieldName} ${predicate(issue)}`;

export const details = (
  error: z.ZodError,
  unknown: string,
  elsewhere: Readonly<Record<string, string>> = {},
): Detail[] =>
  error.issues
    .slice(0, maxDetails)
    .flatMap((issue): Detail[] => {
      const field = pathText(issue.path) || 'body';
      if (issue.code === 'unrecognized_keys')
        return issue.keys.slice(0, maxDetails).map((key) => ({
          field: pathText([...issue.path, echo(key)]),
          code: 'unknown_field',
          message: `${unknown}: ${echo(key)}${Object.hasOwn(elsewhere, key) ? `; ${elsewhere[key]}` : ''}`,
        }));
      const { message } = issue;
      const text = message.startsWith(fieldName) ? field + message.slice(fieldName.length) : message;
      return [{ field, code: codeOf(issue), message: text }];
    })
    .slice(0, maxDetails);

/** A rule of ours names its code (`issueOf`); zod's own rules have the code of their kind. */
export const codeOf = (issue: z.core.$ZodIssue): DetailCode => {
  if (issue.code === 'custom') return issue.params!.code as DetailCode;
  const { input } = issue;
  if (input == null) return 'required';
  switch (issue.code) {
    case 'too_small':
      if (typeof input === 'number') return 'out_of_range';
      return (input as { readonly length: number }).length === 0 ? 'required' : 'too_short';
    case 'too_big':
      return typeof input === 'number' ? 'out_of_range' : 'too_long';
    case 'invalid_format':
      return 'invalid_characters';
    case 'invalid_value':
      return 'out_of_range';
    default:
      return 'wrong_kind';
  }
};

export const extraOf = (error: z.ZodError): Record<string, unknown> | undefined => {
  for (const issue of error.issues)
    if (issue.code === 'custom' && issue.params?.extra) return issue.params.extra as Record<string, unknown>;
  return undefined;
};

const predicate = (issue: z.core.$ZodRawIssue): string => {
  if (issue.input === undefined) return 'is required';
  if (issue.input === null) return 'must not be null';
  switch (issue.code) {
    case 'invalid_type':
      return typeNames[issue.expected] ?? 'is not valid';
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'too_small':
      return `must ${measure(issue.origin)} at least ${issue.minimum}${unit(issue.origin)}`;
    case 'too_big':
      return `must ${measure(issue.origin)} at most ${issue.maximum}${unit(issue.origin)}`;
    default:
      return 'is not valid';
  }
};

const typeNames: Readonly<Record<string, string>> = {
  string: 'must be a string',
  number: 'must be a number',
  int: 'must be an integer',
  boolean: 'must be true or false',
  array: 'must be an array',
  object: 'must be a JSON object',
  record: 'must be a JSON object',
};

const measure = (origin: string): string => (origin === 'array' ? 'have' : 'be');
const unit = (origin: string): string =>
  origin === 'string' ? ' characters' : origin === 'array' ? ' items' : '';

const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${String(part)}` : String(part),
    '',
  );
