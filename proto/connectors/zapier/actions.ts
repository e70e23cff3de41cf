import type { Bundle, Create, PlainInputField, Search, ZObject } from 'zapier-platform-core';
import { type Json, recordsOf, requestOf } from '../request.ts';
import { type Action, actions, type Field, lookups } from '../table.ts';
import { keyOf, nounOf, snake, titled } from './names.ts';
import { send } from './send.ts';

/** Zapier identifies a record by `id`. The answer of a status update has no ID: the input has. */
const withId = (record: Json, inputs: Json): Json & { id: unknown } => {
  const name = Object.keys(record).find((one) => /^(client|client_note|employee)_id$/.test(one));
  return { id: name ? record[name] : inputs.client_id, ...record };
};

const inputField = (
  { name, label, type, required, description, lookup, in: place }: Field,
  { resource }: Action,
) => {
  const list = lookups.find((one) => one.name === lookup);
  const types = { text: 'string', longText: 'text', email: 'string' } as const;
  return {
    key: name,
    label,
    // A status is an ID or a name.
    type: list && !list.isSearch && type === 'text' ? 'string' : type in types ? types[type as 'text'] : type,
    required,
    ...(description && { helpText: description }),
    ...(list && !list.isSearch && { dynamic: `${snake(list.name)}.id.name` }),
    ...(list?.isSearch &&
      place === 'path' && { search: `${resource === 'leads' ? 'find_lead' : 'find_client'}.id` }),
  } as PlainInputField;
};

/** Zapier leaves out what is empty, so an update names what it empties. */
const emptied = 'fields_to_empty';

const emptiedField = ({ method, fields }: Action): readonly PlainInputField[] => {
  const optional = fields.filter(({ isOptional, required }) => isOptional && !required);
  if (method !== 'PATCH' || optional.length === 0) return [];
  const choices = Object.fromEntries(optional.map(({ name, label }) => [name, label]));
  return [{ key: emptied, label: 'Fields To Empty', type: 'string', list: true, choices }];
};

const operationOf = (action: Action) => ({
  inputFields: [...action.fields.map((field) => inputField(field, action)), ...emptiedField(action)],
  sample: withId(action.sample, { client_id: 9_000_000_000_001_042 }),
});

const displayOf = (action: Action) => ({
  label: titled(keyOf(action)),
  description: `${action.title.replace(/\.$/, '')}.${action.description && ` ${action.description}`}`,
});

const createOf = (action: Action): Create => ({
  key: keyOf(action),
  noun: nounOf(action.resource),
  display: displayOf(action),
  operation: {
    ...operationOf(action),
    perform: async (z: ZObject, { inputData, ...bundle }: Bundle) => {
      const names = (inputData[emptied] ?? []) as readonly string[];
      const values = { ...inputData, ...Object.fromEntries(names.map((name) => [name, null])) };
      return withId(await send(z, bundle, requestOf(action, values)), inputData);
    },
  },
});

const searchOf = (action: Action): Search => ({
  key: keyOf(action),
  noun: nounOf(action.resource),
  display: displayOf(action),
  operation: {
    ...operationOf(action),
    perform: async (z: ZObject, bundle: Bundle) => {
      const answer = await send(z, bundle, requestOf(action, bundle.inputData), { emptyOn: 404 });
      const records = Object.keys(answer).length === 0 ? [] : recordsOf(action, answer);
      return records.map((record) => withId(record, {}));
    },
  },
});

const byKey = <Part extends { key: string }>(parts: readonly Part[]): Record<string, Part> =>
  Object.fromEntries(parts.map((part) => [part.key, part]));

export const creates = byKey(actions.filter(({ method }) => method !== 'GET').map(createOf));

export const searches = byKey(actions.filter(({ method }) => method === 'GET').map(searchOf));

/** A create with an `external_id` that exists updates that record, so two Zaps at once make one record. */
export const searchOrCreates = byKey(
  ['lead', 'client'].map((noun) => ({
    key: `find_${noun}`,
    display: {
      label: `Find or Create ${titled(noun)}`,
      description: `Finds a ${noun}, for example by \`external_id\`, or creates it.`,
    },
    search: `find_${noun}`,
    create: `create_${noun}`,
  })),
);
