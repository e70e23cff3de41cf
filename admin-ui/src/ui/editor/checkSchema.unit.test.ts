import { eventPayloads, eventTypes, samplePayload } from '@causeway/proto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkSchema } from './checkSchema.ts';

const schemaOf = (type: (typeof eventTypes)[number]) => z.toJSONSchema(eventPayloads[type], { io: 'input' });

describe('the check of payloads against their schemas', () => {
  for (const type of eventTypes) {
    it(`finds nothing wrong with the sample of ${type}`, () => {
      const sample = samplePayload(type, new Date('2026-01-15T09:30:00Z'));
      expect(checkSchema(schemaOf(type), sample)).toEqual([]);
    });
  }
  const sample = samplePayload('payment.failed', new Date('2026-01-15T09:30:00Z'));
  const check = (value: unknown) => checkSchema(schemaOf('payment.failed'), value);
  it('names a missing field', () => {
    const { currency, ...rest } = sample;
    expect(check(rest)).toEqual([{ path: [], message: 'currency is missing' }]);
  });
  it('names a field of another type', () => {
    expect(check({ ...sample, amount: '12' })).toEqual([{ path: ['amount'], message: 'should be a number' }]);
  });
  it('lets null pass only where it may stand', () => {
    expect(check({ ...sample, invoice_id: null })).toEqual([]);
    expect(check({ ...sample, client_id: null })).toHaveLength(1);
  });
  it('lets unknown fields pass', () => {
    expect(check({ ...sample, more: true })).toEqual([]);
  });
  it('says that a time is none', () => {
    expect(check({ ...sample, failed_date: 'yesterday' })).toHaveLength(1);
  });
  it('says that a list is no object', () => {
    expect(check([])).toEqual([{ path: [], message: 'should be an object' }]);
  });
});
