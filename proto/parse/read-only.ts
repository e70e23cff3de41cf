import { z } from 'zod';
import type { Detail } from '../errors.ts';

/**
 * Fields that requests cannot set. A body may carry their stored values, so that a record can be sent back
 * whole (contract, "Requests and errors").
 */
export const readOnly = <const Name extends string>(...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, field])) as Record<Name, typeof field>;

const field = z
  .unknown()
  .optional()
  .meta({ readOnly: true, description: 'Ignored if it equals the stored value; otherwise an error.' });

export const isReadOnly = (schema: z.ZodType): boolean => schema === field;

const carried = Symbol('read-only fields');

export const setAside = (body: Record<string, unknown>, names: ReadonlySet<string>): void => {
  const fields: Record<string, unknown> = {};
  for (const name of names)
    if (name in body) {
      fields[name] = body[name];
      delete body[name];
    }
  if (Object.keys(fields).length > 0) Object.defineProperty(body, carried, { value: fields });
};

export const hasReadOnly = (body: object): boolean => carried in body;

export const noFieldToChange = 'no field to change';

/** @param stored as answers show it; times may be dates. @param elsewhere what changes the field instead */
export const updateProblems = (
  body: object,
  stored: Readonly<Record<string, unknown>>,
  elsewhere: Readonly<Record<string, string>> = {},
): Detail[] => {
  const more = (name: string): string => {
    if (elsewhere[name]) return `; use ${elsewhere[name]}`;
    // Most likely somebody changed the record since it was read.
    return ofVersion.has(name) && 'version' in stored ? `; the record is at version ${stored.version}` : '';
  };
  const problems = Object.entries(
    (body as { readonly [carried]?: Readonly<Record<string, unknown>> })[carried] ?? {},
  )
    .filter(([name, value]) => !equals(value, stored[name]))
    .map(([name]) => ({
      field: name,
      code: 'read_only' as const,
      message: `${name} cannot be changed here${more(name)}`,
    }));
  const isEmpty = Object.values(body).every((value) => value === undefined);
  return isEmpty && problems.length === 0
    ? [{ field: 'body', code: 'empty_update', message: noFieldToChange }]
    : problems;
};

const ofVersion: ReadonlySet<string> = new Set(['version', 'updated_utc']);

/** Compares times by value, because clients write them in different formats. */
const equals = (sent: unknown, stored: unknown): boolean =>
  stored instanceof Date
    ? typeof sent === 'string' && Date.parse(sent) === stored.getTime()
    : Array.isArray(stored)
      ? JSON.stringify(sent) === JSON.stringify(stored)
      : sent === (stored ?? null);
