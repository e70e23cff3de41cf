import { pino } from 'pino';
import { expect, test } from 'vitest';
import { logPlain, redact } from './log.ts';

test('secrets and personal data are removed, at the top level and one level down', () => {
  const line = { status: 200, email: 'a@b.c', client: { id: 5, phone: '123', last_name: 'X' }, apiKey: 'k' };
  expect(redact(line)).toEqual({
    status: 200,
    email: '[redacted]',
    client: { id: 5, phone: '[redacted]', last_name: '[redacted]' },
    apiKey: '[redacted]',
  });
});

test("the caller's own object does not change, and a clean entry is not copied", () => {
  const dirty = { secret: 's' };
  redact(dirty);
  expect(dirty).toEqual({ secret: 's' });
  const clean = { status: 200, client: { id: 5 } };
  expect(redact(clean)).toBe(clean);
});

test('errors and other objects pass to their own serializers', () => {
  const error = new Error('x');
  expect(redact({ error }).error).toBe(error);
});

test('a plain line is that of pino', () => {
  const lines: string[] = [];
  const log = pino(
    {
      base: { service: 'gateway', instance: 'g-1' },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => void lines.push(line) },
  ).child({ of: 'child' });
  const fields = { requestId: 'a"\\\n', companyId: 5, userId: undefined, durationMs: 1.25 };
  log.info(fields, 'request "1"');
  logPlain(log, fields, 'request "1"');
  const [first, second] = lines.map((line) => ({ ...JSON.parse(line), time: 'now' }));
  expect(second).toEqual(first);
  expect(lines[1]).toMatch(/^\{"level":"info","time":"\d{4}-\d\d-\d\dT[\d:.]{12}Z",.*\}\n$/);
  log.level = 'warn';
  logPlain(log, fields, 'request');
  expect(lines.length).toBe(2);
});
