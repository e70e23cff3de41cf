import { describe, expect, test } from 'vitest';
import { readDocument } from './support/documented.ts';
import { addEmployee } from './support/people.ts';
import { type Json, openWorld, type Reply } from './support/world.ts';

// The document alone is enough to use every action: this file knows nothing more about them.

const world = await openWorld();
const document: Json = (await world.ask('/openapi.json')).json;
const problemOf = readDocument(document);

interface Described {
  readonly method: string;
  readonly path: string;
  readonly operation: Json;
}

const all: Described[] = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
  Object.entries<Json>(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    operation,
  })),
);
const actions = all.filter(
  ({ method, operation }) => method !== 'GET' && operation['x-scope'] === 'integrations:write',
);

const exampleOf = ({ operation }: Described): Json =>
  operation.requestBody.content['application/json'].example;

/** Checks an answer against the schema of its status in the document. */
const expectDocumented = ({ operation }: Described, reply: Reply): void =>
  expect(problemOf(operation, reply)).toBeUndefined();

/** A company with an employee, as a person who tries the examples has. */
const newcomer = async () => {
  const company = await world.company();
  const employee = await addEmployee(world, { company_id: company.id, first_name: 'Ada', last_name: 'B' });
  const { value: key } = await company.key(['integrations:write']);
  const send = (described: Described, path: string, body: Json): Promise<Reply> =>
    world.ask(`/${path}`, { method: described.method, key, body: JSON.stringify(body) });
  /** The example, with an existing employee in place of the one in the document. */
  const own = (body: Json): Json =>
    Object.fromEntries(
      Object.entries(body).map(([name, value]) => [name, /employee_id$/.test(name) ? employee : value]),
    );
  /** The path, with the ID of a newly created record if it needs one. */
  const pathOf = async (described: Described): Promise<string> => {
    const parameter = /\{(\w+)\}/.exec(described.path);
    const isNamed = described.operation.operationId === 'updatePersonByExternalId';
    if (!parameter && !isNamed) return described.path;
    // A person of either kind is made as a lead.
    const collection = described.path
      .slice(0, parameter ? parameter.index - 1 : undefined)
      .replace('people', 'leads');
    const create = all.find(({ method, path }) => method === 'POST' && path === collection)!;
    const example = { ...own(exampleOf(create)), ...(isNamed && { external_id: 'named' }) };
    const made = await send(create, create.path, example);
    expectDocumented(create, made);
    if (!parameter) return `${described.path}?external_id=named`;
    return described.path.replace(parameter[0], String(made.json[parameter[1]!]));
  };
  return { send, own, pathOf };
};

test('the document describes the eleven actions and their four batches', () => {
  expect(actions).toHaveLength(15);
});

describe.each(actions.map((described) => [described.operation.operationId as string, described] as const))(
  '%s',
  (_, described) => {
    test('its example works, and is answered as described', async () => {
      const { send, own, pathOf } = await newcomer();
      const path = await pathOf(described);
      const reply = await send(described, path, own(exampleOf(described)));
      expect(String(reply.status)).toMatch(/^20[01]$/);
      expect(Object.keys(described.operation.responses)).toContain(String(reply.status));
      expectDocumented(described, reply);
    });
  },
);
