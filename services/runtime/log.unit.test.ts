import { expect, test } from 'vitest';
import { redact } from './log.ts';

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
