import { eventCatalog } from '@causeway/proto';
import { describe, expect, it } from 'vitest';
import { checkSchema } from './check-schema.ts';

const catalog = eventCatalog(new Date('2026-01-15T09:30:00Z'));

describe('the check of payloads against their schemas', () => {
  for (const { type, schema, sample } of catalog) {
    it(`accepts the sample of ${type}`, () => {
      expect(checkSchema(schema, sample)).toEqual([]);
    });
  }
  const failed = catalog.find((one) => one.type === 'payment.failed');
  const sample = failed?.sample as Record<string, unknown>;
  const check = (value: unknown) => checkSchema(failed?.schema, value);
  it('names a missing field', () => {
    const { currency, ...rest } = sample;
    expect(check(rest)).toEqual([{ path: [], message: 'currency is missing' }]);
  });
  it('names a field of the wrong type', () => {
    expect(check({ ...sample, amount: '12' })).toEqual([{ path: ['amount'], message: 'should be a number' }]);
  });
  it('accepts null only in nullable fields', () => {
    expect(check({ ...sample, invoice_id: null })).toEqual([]);
    expect(check({ ...sample, client_id: null })).toHaveLength(1);
  });
  it('accepts unknown fields', () => {
    expect(check({ ...sample, more: true })).toEqual([]);
  });
  it('rejects text that is not a time', () => {
    expect(check({ ...sample, failed_date: 'yesterday' })).toHaveLength(1);
  });
  it('rejects a list in place of an object', () => {
    expect(check([])).toEqual([{ path: [], message: 'should be an object' }]);
  });
});
