import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { challengeType } from '../delivery-states.ts';
import { detailCodes, errorCodes } from '../errors.ts';
import { eventTypes } from '../events.ts';
import { basePath, type KeyOperation } from '../operation.ts';
import { recordTypes } from '../operations/changes.ts';
import { keyOperations } from '../operations.ts';
import { parseBody, parseQuery } from '../parse.ts';
import { noteExample } from '../schemas/records.ts';
import { conditionOf } from '../versions.ts';
import type { Json } from './components.ts';
import { openApiDocument } from './document.ts';

interface Content {
  readonly schema: { readonly $ref: string };
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
interface Response {
  readonly $ref?: string;
  readonly description: string;
  readonly headers: Json;
  readonly content?: { readonly 'application/json': Content };
}
interface Described extends Json {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: Json;
    readonly example?: unknown;
  }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: { readonly 'application/json': Content };
  };
  readonly responses: Readonly<Record<string, Response>>;
}
interface Document extends Json {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: {
    readonly parameters: Json;
    readonly responses: Readonly<Record<string, Response>>;
    readonly schemas: Json;
  };
}

const document = openApiDocument() as unknown as Document;
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(document, 'document');

const described = (id: string): Described => {
  const operation = keyOperations.find((candidate) => candidate.id === id)!;
  return document.paths[basePath + operation.path]![operation.method.toLowerCase()]!;
};

const resolved = (response: Response): Response =>
  response.$ref ? document.components.responses[response.$ref.split('/').at(-1)!]! : response;

const checkExamples = (content: Content): number => {
  const examples = [
    ...('example' in content ? [content.example] : []),
    ...Object.values(content.examples ?? {}).map(({ value }) => value),
  ];
  const validate = ajv.getSchema(`document${content.schema.$ref}`)!;
  for (const example of examples)
    expect(validate(example), `${JSON.stringify(example)} ${ajv.errorsText(validate.errors)}`).toBe(true);
  return examples.length;
};

test('the document is valid OpenAPI 3.1', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
  expect(document.openapi).toBe('3.1.0');
});

test('every shared answer has examples that fit its schema', () => {
  for (const response of Object.values(document.components.responses))
    expect(checkExamples(response.content!['application/json'])).toBeGreaterThan(0);
});

test('the document has an example of every error code', () => {
  const text = JSON.stringify(document);
  // 400, 403 and 500 belong to single operations; 501 comes from a service that is older than its gateway.
  for (const { message } of Object.values(errorCodes).filter(
    ({ status }) => ![400, 403, 409, 500, 501].includes(status),
  ))
    expect(text).toContain(JSON.stringify(message));
});

describe.each(keyOperations.map((operation) => [operation.id, operation] as const))('%s', (id, operation) => {
  const entry = described(id);

  test('is described with its scope and bucket', () => {
    expect(entry).toMatchObject({
      operationId: (operation as KeyOperation).operationId ?? id,
      ...(operation.scope && { 'x-scope': operation.scope }),
      ...(operation.bucket && { 'x-bucket': operation.bucket }),
    });
  });

  test('lists the errors that every request may get, in the shape of the operation', () => {
    const ofAll = ['400', '401', '404', '405', '413', '429', '500', '503', '504'];
    for (const status of operation.scope ? ['403', ...ofAll] : ofAll) {
      const response = resolved(entry.responses[status]!);
      const family = operation.errorShape === 'lookup' ? /\/Lookup/ : /\/(ApiError|RateLimitExceeded)$/;
      expect(response.content!['application/json'].schema.$ref).toMatch(family);
      expect(checkExamples(response.content!['application/json'])).toBeGreaterThan(0);
      expect(response.headers).toHaveProperty('X-Request-Id');
    }
    expect(resolved(entry.responses['429']!).headers).toHaveProperty('Retry-After');
  });

  test('describes rate-limit headers on every status that a counted request can get, and on no other', () => {
    const counted = [
      '304',
      '400',
      '413',
      '429',
      '500',
      '503',
      '504',
      ...(operation.errors[403] ? ['403'] : []),
    ];
    for (const [status, response] of Object.entries(entry.responses)) {
      if (status.startsWith('2') || (status === '404' && operation.errors[404])) continue;
      const has = 'X-RateLimit-Limit' in resolved(response).headers;
      const isCounted = operation.bucket !== null && (counted.includes(status) || Number(status) >= 409);
      expect([status, has]).toEqual([status, isCounted]);
    }
  });

  test('has an example of every success, with declared fields only', () => {
    for (const [status, { schema, example }] of Object.entries(operation.answers)) {
      const response = entry.responses[status]!;
      for (const name of ['Limit', 'Remaining', 'Reset', 'Window', 'Policy'])
        expect(`X-RateLimit-${name}` in response.headers).toBe(operation.bucket !== null);
      if (!schema) {
        expect(status).toBe('204');
        expect(response.content).toBeUndefined();
        continue;
      }
      expect(checkExamples(response.content!['application/json'])).toBe(1);
      expect(schema.parse(example)).toEqual(example);
    }
  });

  test('has an example request that the parser accepts', () => {
    if (!operation.body) return expect(entry.requestBody).toBeUndefined();
    const content = entry.requestBody!.content['application/json'];
    expect(checkExamples(content)).toBe(1);
    expect(() => parseBody(operation, Buffer.from(JSON.stringify(content.example)))).not.toThrow();
  });

  test('has examples of parameters that its own rules take, together', () => {
    const parameters = (entry.parameters ?? []).map((one) =>
      '$ref' in one ? (document.components.parameters[`${one.$ref}`.split('/').at(-1)!] as typeof one) : one,
    );
    const [inPath, inQuery, inHead] = ['path', 'query', 'header'].map((place) =>
      parameters.filter((one) => one.in === place),
    );
    for (const { name, schema, example } of [...inPath!, ...inHead!]) {
      expect(example, name).toBeDefined();
      expect(ajv.validate(schema, example), name).toBe(true);
    }
    const filled = inQuery!.flatMap(
      ({ name, schema, example = schema.default ?? (schema.enum as [string])?.[0] }) => {
        expect(example, name).toBeDefined();
        if (!('$ref' in schema)) expect(ajv.validate(schema, example), name).toBe(true);
        return [example].flat().map((value) => `${name}=${encodeURIComponent(`${value}`)}`);
      },
    );
    if (operation.query) expect(() => parseQuery(operation, filled.join('&'))).not.toThrow();
    const sent = Object.fromEntries(inHead!.map(({ name, example }) => [name, example as string]));
    const [ifMatch, ifNoneMatch] = [sent['If-Match'], sent['If-None-Match']];
    expect(conditionOf(operation, { ifMatch, ifNoneMatch, otherCondition: undefined })).toBeUndefined();
  });

  test('names the parameters of its path', () => {
    const inPath = (entry.parameters ?? [])
      .filter((parameter) => parameter.in === 'path')
      .map(({ name }) => name);
    expect(inPath).toEqual([...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
  });
});

test('a verification challenge is described with the answer that it needs', () => {
  const { post } = (document.webhooks as unknown as Record<string, { post: Described }>)[challengeType]!;
  expect(checkExamples(post.requestBody!.content['application/json'])).toBe(1);
  expect(checkExamples(post.responses['2XX']!.content!['application/json'])).toBe(1);
});

describe.each(eventTypes)('the delivery of %s', (type) => {
  const { post } = (document.webhooks as unknown as Record<string, { post: Described }>)[type]!;

  test('is described with an example that fits its schema', () => {
    expect(checkExamples(post.requestBody!.content['application/json'])).toBe(1);
  });

  test('names every header that a delivery has', () => {
    const named = post.parameters!.map(({ name }) => name);
    expect(named).toEqual(expect.arrayContaining(['X-Webhook-Signature', 'webhook-signature']));
    expect(Object.keys(post.responses)).toEqual(expect.arrayContaining(['2XX', '410', 'default']));
  });

  test('does not fit another type', () => {
    const other = type === 'lead.created' ? 'invoice.created' : 'lead.created';
    const { $ref } = post.requestBody!.content['application/json'].schema;
    const example = post.requestBody!.content['application/json'].example as Json;
    expect(ajv.getSchema(`document${$ref}`)!({ ...example, type: other })).toBe(false);
  });
});

test('a subscription names as its callback every type that its URL receives', () => {
  const { callbacks } = described('createSubscription') as unknown as {
    callbacks: { delivery: Record<string, { post: Described }> };
  };
  const { post } = callbacks.delivery['{$request.body#/url}']!;
  expect(checkExamples(post.requestBody!.content['application/json'])).toBe(1);
  const takes = ajv.getSchema('document#/components/schemas/Delivery')!;
  for (const item of Object.values(document.webhooks as Record<string, { post: Described }>)) {
    const example = item.post.requestBody!.content['application/json'].example as Json;
    expect([example.type, takes(example), takes({ ...example, type: 'x.y' })]).toEqual([
      example.type,
      true,
      false,
    ]);
  }
});

test('a query parameter may be blank, as the parser allows', () => {
  for (const operation of keyOperations)
    for (const { name, in: where, schema, ...rest } of described(operation.id).parameters ?? []) {
      if (where !== 'query') continue;
      if (operation.method !== 'GET') {
        expect(rest).toMatchObject({ required: true });
        expect(() => parseQuery(operation, `${name}=+`)).toThrow(`${name} is required`);
        continue;
      }
      expect(() => parseQuery(operation, `${name}=+`)).not.toThrow(/\b(?:limit|cursor|type|order)\b/);
      expect(rest).toMatchObject({ required: false, allowEmptyValue: true });
      if (schema.type === 'string' && !schema.enum)
        for (const blank of ['', ' ']) expect(ajv.validate(schema, blank), name).toBe(true);
    }
});

test('the errors of lookups have the codes that the contract lists, and no others', () => {
  const contract = readFileSync(new URL('../CONTRACT.md', import.meta.url), 'utf8');
  const [, listed = ''] = /`\{error_code, message\}`, with the codes ([^|]*)/.exec(contract) ?? [];
  const codes = [...listed.matchAll(/`(\w+)`/g)].map(([, code]) => code!).sort();
  const enumOf = (name: string) =>
    (document.components.schemas[name] as { properties: { error_code: { enum: string[] } } }).properties
      .error_code.enum;
  expect([...enumOf('LookupError'), ...enumOf('LookupRateLimitExceeded')].sort()).toEqual(codes);
});

test('the codes of details are those that the contract lists, with their meanings', () => {
  const contract = readFileSync(new URL('../CONTRACT.md', import.meta.url), 'utf8');
  const [, rows = ''] = /\| `code` \| Meaning \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(contract) ?? [];
  expect(rows.trimEnd().split('\n')).toEqual(
    Object.entries(detailCodes).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`),
  );
  for (const name of ['ApiError', 'LookupError'])
    expect(document.components.schemas[name]).toMatchObject({
      properties: { details: { items: { properties: { code: { enum: Object.keys(detailCodes) } } } } },
    });
});

test('the bounds of fields are keywords that a validator can check', () => {
  const { schemas } = document.components;
  const takes = (name: string, value: unknown): boolean =>
    ajv.getSchema(`document#/components/schemas/${name}`)!(value) as boolean;
  const lead = { first_name: 'Ada', last_name: 'B', email: 'a@b.co' };
  expect(takes('CreateLeadRequest', { ...lead, phone: '+1 (555) 010-4477' })).toBe(true);
  expect(takes('CreateLeadRequest', { ...lead, phone: ' ' })).toBe(true);
  expect(takes('CreateLeadRequest', { ...lead, phone: '+1-2' })).toBe(false);
  expect(takes('CreateLeadRequest', { ...lead, first_name: 'a\nb' })).toBe(false);
  expect(takes('CreateAffiliateRequest', { ...lead, commission_rate: 0.07 })).toBe(true);
  expect(takes('CreateAffiliateRequest', { ...lead, commission_rate: 100.5 })).toBe(false);
  for (const name of [
    'UpdateLead',
    'UpdateClient',
    'UpdateAffiliate',
    'UpdateSubscription',
    'UpdateLeadStatus',
  ])
    expect(takes(`${name}Request`, {}), name).toBe(false);
  const text = JSON.stringify(schemas);
  expect(text.match(/"format":"int64"/g)!.length).toBe(text.match(/"maximum":9007199254740991/g)!.length);
});

test('events and changes are told apart by their type, and every reference leads somewhere', () => {
  const { schemas } = document.components as unknown as { schemas: Record<string, Json> };
  const typesOf = (name: string) => Object.keys((schemas[name]!.discriminator as { mapping: Json }).mapping);
  expect(typesOf('WebhookEvent')).toEqual(eventTypes);
  expect(typesOf('Change')).toEqual(recordTypes);
  const change = ajv.getSchema('document#/components/schemas/Change')!;
  const at = { sequence: 1, id: 7, operation: 'upsert', origin: 'system', version: 1, external_id: null };
  const entry = { ...at, changed_utc: '2026-01-15T09:31:00.000Z', record: noteExample };
  expect([change({ ...entry, type: 'note' }), change({ ...entry, type: 'person' })]).toEqual([true, false]);
  expect(change({ ...entry, operation: 'delete', record: null, type: 'person' })).toBe(true);
});

test.each([true, false])(
  'the document has nothing that generators misread (webhooks: %s)',
  async (withWebhooks) => {
    const whole = openApiDocument({ withWebhooks, server: 'https://crm.example.com' });
    expect((await new Validator().validate(structuredClone(whole))).errors).toBeUndefined();
    expect(whole).toMatchObject({
      info: { license: { identifier: expect.stringMatching(/^LicenseRef-/) } },
      servers: [{ url: 'https://crm.example.com' }],
    });
    const text = JSON.stringify(whole);
    for (const [, kind, name] of text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g))
      expect((whole.components as Record<string, Json>)[kind!], name).toHaveProperty(name!);
    const nullableScalar =
      /\{"type":"(?:string|integer|number)"(?:,"(?!enum)\w+":(?:\d+|"[^"]*"))*\},\{"type":"null"\}/g;
    for (const misread of [/"multipleOf"/g, /"type":"boolean","(?:enum|const)"/g, nullableScalar])
      expect([...text.matchAll(misread)].map(([found]) => found)).toEqual([]);
    expect(text.match(/\{"readOnly":true/g), 'a Java client would send null without a type').toBeNull();
    const marks = ['"webhooks":{', '"callbacks":{', 'LeadCreatedEvent', '"Delivery"'];
    expect(marks.map((mark) => text.includes(mark))).toEqual(marks.map(() => withWebhooks));
  },
);
