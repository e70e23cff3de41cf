import { z } from 'zod';
import { defineEventType, harmless, recordId, text, textOrNone, time } from '../shared.ts';

export const affiliateCreated = defineEventType({
  type: 'affiliate.created',
  title: 'Affiliate created',
  description: 'An affiliate was added and awaits approval.',
  payload: z.object({
    employee_id: recordId,
    first_name: text,
    last_name: text,
    email: text,
    phone: text.meta({ description: 'Empty if the affiliate has none.' }),
    affiliate_code: text,
    affiliate_company_name: textOrNone,
    commission_rate: z.number().nullable().meta({ description: 'Per cent.' }),
    is_approved: harmless(z.boolean()),
    created_date: time,
  }),
  sample: (now) => ({
    employee_id: 16,
    first_name: 'Lise',
    last_name: 'Meitner',
    email: 'lise@example.com',
    phone: '+1 555 010 2233',
    affiliate_code: 'K7M2QX9D',
    affiliate_company_name: 'Meitner & Co',
    commission_rate: 12.5,
    is_approved: false,
    created_date: now,
  }),
});
