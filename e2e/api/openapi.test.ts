import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { readDocument } from './support/documented.ts';
import { addEmployee } from './support/people.ts';
import { type Json, openWorld } from './support/world.ts';

// The document alone is enough to use every operation: this file knows nothing more about them.

const world = await openWorld();
const document: Json = (await world.ask('/openapi.json')).json;
const problemOf = readDocument(document);

/** A company with the records that the examples name, and the text of an example with their IDs. */
const newcomer = async () => {
  const company = await world.company();
  const { value: key } = await company.key();
  const make = async (path: string, more = {}): Promise<Json> => {
    const body = { first_name: 'Ada', last_name: 'B', email: 'ada@example.com', ...more };
    return (await world.ask(`/integrations/${path}`, { method: 'POST', key, body })).json;
  };
  const ids: Readonly<Record<string, number>> = {
    1042: (await make('leads', { external_id: 'EXT-100001' })).client_id,
    1040: (await make('clients')).client_id,
    16: (await make('affiliates')).employee_id,
    7: await addEmployee(world, { company_id: company.id, first_name: 'Ada', last_name: 'B' }),
  };
  return { key, own: (text: string) => text.replace(/(?<=_id": ?|^)\d+/g, (id) => String(ids[id] ?? id)) };
};

test('every request works as tools import it, with all parameters filled in, and is answered as described', async () => {
  const { key, own } = await newcomer();
  const all = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const refused: string[] = [];
  // The second time, each external_id exists.
  for (const { method, path, operation } of [...all, ...all]) {
    const filled = (place: string): [name: string, value: string][] =>
      (operation.parameters ?? [])
        .map(({ $ref, ...one }: Json) =>
          $ref ? document.components.parameters[$ref.split('/').at(-1)] : one,
        )
        .filter((one: Json) => one.in === place)
        .flatMap(({ name, schema, example = schema.default ?? schema.enum?.[0] }: Json) =>
          [example].flat().map((value) => [name, `${value}`.replace('{{$guid}}', randomUUID())]),
        );
    const url = filled('path').reduce((left, [name, value]) => left.replace(`{${name}}`, own(value)), path);
    const example = operation.requestBody?.content['application/json'].example;
    const reply = await world.ask(`/${url}?${new URLSearchParams(filled('query'))}`, {
      ...{ method: method.toUpperCase(), key, headers: Object.fromEntries(filled('header')) },
      ...(example && { body: own(JSON.stringify(example)) }),
    });
    if (reply.status !== 204) expect(problemOf(operation, reply)).toBeUndefined();
    if (reply.status >= 300) refused.push(`${reply.status} ${operation.operationId}`);
  }
  // Their ids are those of objects that the reader makes first.
  const others = all.filter(
    ({ path, operation }) => /\{id\}/.test(path) || operation.operationId === 'erasePerson',
  );
  const expected = others.map(({ operation }) => `404 ${operation.operationId}`);
  expect(refused).toEqual([...expected, ...expected]);
});
