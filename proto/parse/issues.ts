import type { z } from 'zod';
import type { Detail } from '../errors.ts';
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
          field: echo(key),
          message: `${unknown}: ${echo(key)}${Object.hasOwn(elsewhere, key) ? `; ${elsewhere[key]}` : ''}`,
        }));
      const { message } = issue;
      return [
        { field, message: message.startsWith(fieldName) ? field + message.slice(fieldName.length) : message },
      ];
    })
    .slice(0, maxDetails);

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
    case 'invalid_union':
      return issue.discriminator === undefined ? 'is not valid' : ofKinds(issue);
    default:
      return 'is not valid';
  }
};

const ofKinds = ({ input, discriminator, options }: z.core.$ZodRawIssue): string => {
  const given = (input as Readonly<Record<string, unknown>>)[discriminator as string];
  if (given === undefined) return 'is required';
  return `must be one of ${(options as readonly unknown[]).join(', ')}`;
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
