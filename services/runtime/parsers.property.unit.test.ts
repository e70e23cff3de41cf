import { unicode } from '@causeway/proto/testing';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { ConfigError, duration, durations, flag, integer, parseConfig } from './config.ts';
import { splitStatements } from './database/migrate.ts';
import {
  decodeAnswers,
  decodeCalls,
  encodeAnswer,
  encodeCall,
  joinFrame,
  type LaneCall,
} from './lanes/frame.ts';
import { childTraceparent } from './trace.ts';

const anyText = fc.string({ unit: unicode, maxLength: 40 });
const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });

describe('a trace context', () => {
  const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35);
  const valid = fc
    .tuple(hex(32), hex(16), hex(2))
    .filter(([trace, span]) => !/^0+$/.test(trace) && !/^0+$/.test(span));

  test('continues with its id and flags and a new span', () => {
    fc.assert(
      fc.property(valid, ([trace, span, flags]) => {
        const next = childTraceparent(`00-${trace}-${span}-${flags}`);
        expect(traceIdOf(next)).toBe(trace);
        expect(next).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/);
        expect([next.slice(36, 52) === span, next.slice(53)]).toEqual([false, flags]);
      }),
      { numRuns: 200 },
    );
  });

  test('starts new and unsampled for invalid input', () => {
    const near = fc
      .tuple(valid, fc.nat(54), fc.constantFrom(...'gGA_- \n'))
      .map(([[trace, span, flags], at, other]) => {
        const text = `00-${trace}-${span}-${flags}`;
        return text.slice(0, at) + (text[at] === other ? 'g' : other) + text.slice(at + 1);
      });
    fc.assert(
      fc.property(fc.oneof(anyText, near), (incoming) => {
        const next = childTraceparent(incoming);
        expect(next).toMatch(/^00-(?!0{32})[0-9a-f]{32}-[0-9a-f]{16}-00$/);
        expect(incoming).not.toContain(traceIdOf(next));
      }),
      { numRuns: 300 },
    );
  });
});

describe('a frame', () => {
  const body = fc.uint8Array({ maxLength: 50 });
  const caller = fc.oneof(
    fc.constant({}),
    fc.record({ key: fc.record({ proof: anyText, address: anyText }) }),
    fc.record({ actor: fc.record({ user: fc.constant(null), address: anyText, userAgent: anyText }) }),
  );
  const call = fc.record({
    operation: anyText,
    tenant: fc.maxSafeNat(),
    caller: fc.maxSafeNat(),
    requestId: anyText,
    traceparent: anyText,
    budgetMs: fc.nat(100_000),
    params: fc.array(anyText, { maxLength: 3 }),
    query: anyText,
    body: body.map((bytes) => Buffer.from(bytes)),
  });
  const callId = '0199f3c2a5b07d1e4c8a6b2f90d3e517';
  const sending = fc.constantFrom(
    {},
    { callId },
    { callId, again: true },
    { callId, again: true, idempotencyKey: 'order-7' },
  );
  const whole = fc.tuple(call, caller, sending).map(([one, by, more]) => ({ ...one, ...by, ...more }));
  const calls = fc.array(fc.record({ id: fc.nat(), call: whole }), { maxLength: 8 });
  const encode = ({ id, call: one }: { readonly id: number; readonly call: LaneCall }) => encodeCall(id, one);

  test('round-trips calls and answers', () => {
    const answer = fc.record({
      status: fc.integer({ min: 0, max: 599 }),
      body: fc.oneof(
        fc.constant(null),
        anyText,
        body.map((bytes) => Buffer.from(bytes)),
      ),
      headers: fc.dictionary(fc.constantFrom('A', 'Location'), anyText),
    });
    const answers = fc.array(fc.record({ id: fc.nat(), answer }), { maxLength: 8 });
    fc.assert(
      fc.property(calls, answers, (asked, answered) => {
        expect(decodeCalls(joinFrame(asked.map(encode)))).toEqual(asked);
        expect(
          decodeAnswers(joinFrame(answered.map(({ id, answer: one }) => encodeAnswer(id, one)))),
        ).toEqual(
          answered.map((one) => ({
            ...one,
            answer: { ...one.answer, body: Buffer.from(one.answer.body ?? '') },
          })),
        );
      }),
      { numRuns: 200 },
    );
  });

  test('that is truncated, lengthened or arbitrary is refused before any part of it is used', () => {
    fc.assert(
      fc.property(calls, fc.nat(10_000), fc.uint8Array({ maxLength: 80 }), (asked, place, garbage) => {
        const frame = joinFrame(asked.map(encode));
        expect(() => decodeCalls(frame.subarray(0, place % frame.length))).toThrow();
        expect(() => decodeCalls(Buffer.concat([frame, Buffer.of(1)]))).toThrow();
        expect(() => decodeCalls(garbage)).toThrow();
      }),
      { numRuns: 200 },
    );
    const head = JSON.stringify([[1, 'op', 1, 2, '', '', 1, [], '', -5]]);
    const bad = Buffer.concat([Buffer.alloc(4), Buffer.from(head)]);
    bad.writeUInt32LE(head.length, 0);
    expect(() => decodeCalls(bad)).toThrow(/truncated/);
  });
});

describe('the configuration', () => {
  const shape = {
    WAIT: duration(10, 60_000),
    WAITS: durations(5, 3_600_000),
    COUNT: integer(1, 500),
    ON: flag(),
  };
  const read = (name: keyof typeof shape, text: string): unknown => {
    try {
      return parseConfig({ [name]: shape[name] } as { [name: string]: z.ZodType }, { [name]: text })[name];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      expect(error.message).toContain(name);
      if (text.length > 6) expect(error.message).not.toContain(text);
      return undefined;
    }
  };
  const unit = fc.constantFrom(['ms', 1], ['s', 1000], ['m', 60_000], ['h', 3_600_000]) as fc.Arbitrary<
    [string, number]
  >;

  test('accepts a duration in any unit, within its bounds', () => {
    fc.assert(
      fc.property(fc.nat(100_000), unit, (count, [name, ms]) => {
        const expected = count * ms;
        expect(read('WAIT', `${count}${name}`)).toBe(
          expected >= 10 && expected <= 60_000 ? expected : undefined,
        );
      }),
      { numRuns: 300 },
    );
  });

  test('accepts anything else, or refuses it with a sentence', () => {
    const text = fc.oneof(
      anyText,
      fc.string({ unit: fc.constantFrom(...'0123456789.+-e smhtruefals,'), maxLength: 20 }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...(Object.keys(shape) as (keyof typeof shape)[])), text, (name, given) => {
        fc.pre(given !== '');
        const value = read(name, given);
        if (name === 'COUNT' && value !== undefined)
          expect((value as number) >= 1 && (value as number) <= 500).toBe(true);
        if (name === 'ON' && value !== undefined) expect(given).toBe(String(value));
      }),
      { numRuns: 500 },
    );
  });
});

describe('an SQL script', () => {
  const quoted = fc.constantFrom("'a;b'", "'it''s;'", "'\\';'", '"x;y"', '`c;d`', '/*! keep; */', "''");
  const dropped = fc.constantFrom('/* no; */', '-- no;\n', '# no;\n', '--\n');
  const word = fc.constantFrom('SELECT', 'a', '1-1', '/', '- ', 'b-c', '\n');
  const part = fc.oneof(
    quoted.map((text) => ({ text, kept: text })),
    dropped.map((text) => ({ text, kept: ' ' })),
    word.map((text) => ({ text, kept: text })),
  );
  const statement = fc.array(part, { minLength: 1, maxLength: 6 });

  test('is split at the semicolons that the server would see, and nothing else is lost', () => {
    fc.assert(
      fc.property(fc.array(statement, { maxLength: 5 }), (statements) => {
        const script = statements.map((parts) => parts.map(({ text }) => text).join(' ')).join(';');
        const wanted = statements.map((parts) =>
          parts
            .map(({ kept }) => kept)
            .join(' ')
            .trim(),
        );
        const squeeze = (text: string): string => text.replace(/\s+/g, ' ').trim();
        expect(splitStatements(script).map(squeeze)).toEqual(
          wanted.map(squeeze).filter((text) => text !== ''),
        );
      }),
      { numRuns: 500 },
    );
  });

  test('of any text is split without error', () => {
    fc.assert(
      fc.property(
        fc.oneof(anyText, fc.string({ unit: fc.constantFrom(...`'"\`/*-#;\\ \na`), maxLength: 60 })),
        (script) => {
          expect(splitStatements(script).every((text) => text !== '' && text === text.trim())).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });
});
