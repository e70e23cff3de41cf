import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { detailCodes, Problem } from './errors.ts';
import { type HttpOperation, type Operation, paramsIn } from './operation.ts';
import { keyOperations, memberOperations, operatorOperations } from './operations.ts';
import { readJsonObject } from './parse/json.ts';
import { readQueryString } from './parse/read.ts';
import { parseBody, parseId, parseQuery } from './parse.ts';
import { unicode } from './testing/unicode.ts';

/** The result of a parser: a value, or the 400 (404 for IDs) that it threw. Anything else fails. */
const outcomeOf = <Value>(parse: () => Value): { value: Value } | { problem: Problem } => {
  try {
    return { value: parse() };
  } catch (error) {
    if (error instanceof Problem) return { problem: error };
    throw error;
  }
};

const isTold = ({ code, publicMessage, details = [] }: Problem): boolean =>
  code === 'invalid_request' &&
  publicMessage !== '' &&
  details[0]?.message === publicMessage &&
  details.every(
    ({ code: rule, message }) =>
      Object.hasOwn(detailCodes, rule) && !/\{field\}|undefined|Zod|\[object/.test(message),
  );

/** Every UTF-16 unit, including unpaired surrogates. */
const anyText = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), maxLength: 40 });
const wellFormed = fc
  .string({ unit: unicode, maxLength: 20 })
  .filter((text) => !text.includes('\0') && text.isWellFormed());

const queryOf = (pairs: [string, string][]): string => new URLSearchParams(pairs).toString();

describe('a query string', () => {
  test('round-trips form data', () => {
    const pairs = fc.uniqueArray(fc.tuple(wellFormed, wellFormed), {
      selector: ([name]) => name,
      maxLength: 5,
    });
    fc.assert(
      fc.property(pairs, (given) => {
        const { values, problems } = readQueryString(queryOf(given));
        expect(problems).toEqual([]);
        expect(Object.entries(values).toSorted()).toEqual(given.toSorted());
      }),
      { numRuns: 300 },
    );
  });

  test('is parsed or refused, and the result has no NUL and no unpaired surrogate', () => {
    const part = fc.oneof(
      anyText,
      fc.constantFrom('%00', '%', '%ed%a0%80', '%c0%80', '=', '&', '+', '__proto__'),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const outcome = outcomeOf(() => readQueryString(parts.join('')));
        if ('problem' in outcome) return isTold(outcome.problem);
        return Object.entries(outcome.value.values)
          .flat(2)
          .every((text) => text.isWellFormed() && !text.includes('\0'));
      }),
      { numRuns: 500 },
    );
  });

  test('names exactly the parameters that were given twice', () => {
    const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'toString');
    fc.assert(
      fc.property(fc.array(name, { maxLength: 8 }), (names) => {
        const { problems } = readQueryString(names.map((one) => `${one}=1`).join('&'));
        const twice = names.filter((one, at) => names.indexOf(one) !== at);
        expect(new Set(problems.map(({ field }) => field))).toEqual(new Set(twice));
      }),
      { numRuns: 200 },
    );
  });
});

describe('a JSON body', () => {
  test('round-trips an object', () => {
    fc.assert(
      fc.property(fc.dictionary(wellFormed, fc.jsonValue({ maxDepth: 5 })), (object) => {
        const text = JSON.stringify(object);
        fc.pre(!text.includes('\\u0000'));
        expect(JSON.stringify(readJsonObject(Buffer.from(text)).value)).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  test('is parsed or refused, for any bytes', () => {
    const json = fc.json().map((text) => Buffer.from(text));
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 60 }), json);
    fc.assert(
      fc.property(bytes, (body) => {
        const outcome = outcomeOf(() => readJsonObject(body));
        return 'problem' in outcome
          ? isTold(outcome.problem)
          : typeof outcome.value.value === 'object' && !Array.isArray(outcome.value.value);
      }),
      { numRuns: 500 },
    );
  });

  test('is refused for a NUL or an unpaired surrogate anywhere, and for nesting over 64 levels', () => {
    const fault = fc.constantFrom('"\\u0000"', '"a\\ud800b"', '{"\\udc00":1}', '{"a\\u0000":1}');
    const layer = fc.constantFrom(['[', ']'], ['{"a":', '}'], ['[1,', ',"z"]']);
    const wrap = fc.oneof(
      fc.array(layer, { maxLength: 100 }),
      fc.array(layer, { minLength: 63, maxLength: 66 }),
    );
    fc.assert(
      fc.property(fault, wrap, fc.boolean(), (bad, around, hasFault) => {
        const inner = hasFault ? bad : '1';
        const text = around.reduce((value, [open, close]) => open + value + close, inner);
        const outcome = outcomeOf(() => readJsonObject(Buffer.from(`{"field":${text}}`)));
        expect('problem' in outcome || outcome.value.problems.length > 0).toBe(
          hasFault || around.length > 64,
        );
      }),
      { numRuns: 200 },
    );
  });
});

/** Values of the types that fields have, and of all other types. */
const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(0, -1, 0.1, 2 ** 53, 1e308, '', ' ', 'client.created', 'https://a.example/', 'a@b.example'),
  fc.string({ unit: unicode, maxLength: 300 }),
);

const byId = new Map<string, Parsed>(
  [...keyOperations, ...memberOperations, ...operatorOperations].map((one) => [one.id, one]),
);
type Parsed = Pick<Operation, 'id' | 'query' | 'body'> & Partial<Pick<HttpOperation, 'path'>>;

const namesOf = (schema: Operation['query']): readonly string[] =>
  Object.keys((schema as { readonly shape?: object } | null)?.shape ?? {});

const given = <Value>(part: 'query' | 'body', value: fc.Arbitrary<Value>) =>
  fc.constantFrom(...byId.keys()).chain((id) => {
    const known = namesOf(byId.get(id)![part]);
    const name = fc.oneof(
      { arbitrary: anyText, weight: 1 },
      { arbitrary: fc.constantFrom(...known, 'x'), weight: 5 },
    );
    return fc.tuple(fc.constant(id), fc.array(fc.tuple(name, value), { maxLength: 6 }));
  });
const parse = (id: string, raw: string, body: string) => {
  const operation = byId.get(id)!;
  const params = paramsIn(operation.path ?? '').map(() => '7');
  return {
    query: () => outcomeOf(() => parseQuery(operation, raw)),
    body: () => outcomeOf(() => parseBody(operation, Buffer.from(body), params)),
  };
};

describe('every operation of the interface, the portal and operators', () => {
  test('accepts any body, or reports its problems in sentences', () => {
    fc.assert(
      fc.property(given('body', anyValue), ([id, fields]) => {
        const outcome = parse(id, '', JSON.stringify(Object.fromEntries(fields))).body();
        if ('problem' in outcome) expect(outcome.problem).toSatisfy(isTold);
        else
          expect(namesOf(byId.get(id)!.body)).toEqual(
            expect.arrayContaining(Object.keys(outcome.value as object)),
          );
      }),
      { numRuns: 3000 },
    );
  });

  test('accepts any query, or reports its problems in sentences', () => {
    const text = fc.oneof(anyText, fc.constantFrom('1', '25', '0', '-1', 'asc', '', 'client.created', '٣'));
    fc.assert(
      fc.property(given('query', text), ([id, pairs]) => {
        const outcome = parse(id, queryOf(pairs), '').query();
        if ('problem' in outcome) expect(outcome.problem).toSatisfy(isTold);
        else
          expect(namesOf(byId.get(id)!.query)).toEqual(
            expect.arrayContaining(Object.keys(outcome.value as object)),
          );
      }),
      { numRuns: 2000 },
    );
  });

  test('refuses every unknown field or parameter, whatever its name', () => {
    const stranger = fc.oneof(wellFormed, fc.constantFrom('__proto__', 'constructor', 'toString', 'length'));
    fc.assert(
      fc.property(fc.constantFrom(...byId.keys()), stranger, (id, name) => {
        const { query, body } = byId.get(id)!;
        // Only the members of a union know the names of its shapes.
        fc.pre(body === null || 'shape' in body);
        fc.pre(!namesOf(query).includes(name) && !namesOf(body).includes(name));
        const { query: inQuery, body: inBody } = parse(
          id,
          queryOf([[name, '1']]),
          `{${JSON.stringify(name)}:1}`,
        );
        for (const outcome of body ? [inQuery(), inBody()] : [inQuery()])
          expect('problem' in outcome && outcome.problem.publicMessage).toMatch(/^unknown /);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the id of a path', () => {
  test('is every integer from 1 to 2^53-1, in one spelling', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (id) => {
        const outcome = outcomeOf(() => parseId(String(id)));
        expect('value' in outcome ? outcome.value : outcome.problem.code).toBe(id > 0 ? id : 'not_found');
      }),
    );
  });

  test('is nothing else', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 20 });
    const text = fc.oneof(
      anyText,
      digits,
      fc.double().map(String),
      fc.tuple(digits, fc.constantFrom(' ', '+', '-', '.0', 'e0', 'n', '\n', '٣')).map(([a, b]) => a + b),
      fc.tuple(fc.constantFrom(' ', '+', '-', '0', '0x', '\t'), digits).map(([a, b]) => a + b),
    );
    fc.assert(
      fc.property(text, (given) => {
        const outcome = outcomeOf(() => parseId(given));
        if ('value' in outcome) expect(String(outcome.value)).toBe(given);
        else expect(outcome.problem.code).toBe('not_found');
      }),
      { numRuns: 500 },
    );
  });
});
