import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import * as f from '../schemas/fields.ts';
import * as r from '../schemas/records.ts';
import { action } from '../schemas/records.ts';

const createdExample = {
  employee_id: 16,
  affiliate_code: 'K7M2QX9D',
  is_approved: false,
  created_utc: '2026-01-15T09:30:00.000Z',
  version: 1,
};

export const createAffiliate = defineOperation({
  ...action,
  method: 'POST',
  path: '/integrations/affiliates',
  tag: 'Affiliates',
  summary: 'Create an affiliate',
  description:
    'A new affiliate is not approved. If an affiliate with the same external_id exists, the sent fields are applied to it instead.',
  params: {},
  body: z.strictObject({
    email: f.email,
    first_name: f.personName,
    last_name: f.personName,
    phone: f.optionalPhone,
    affiliate_code: f.affiliateCode,
    commission_rate: f.commissionRate,
    affiliate_company_name: f.affiliateCompanyName,
    external_id: f.externalId,
  }),
  bodyExample: {
    email: 'lise@example.com',
    first_name: 'Lise',
    last_name: 'Meitner',
    commission_rate: 12.5,
    affiliate_company_name: 'Meitner & Co',
  },
  answers: r.createdOrUpdated(['The affiliate', 'An affiliate'], r.affiliateCreated, createdExample, {
    ...createdExample,
    is_approved: true,
  }),
  errors: {
    400: r.actionInvalid(
      'commission_rate',
      'out_of_range',
      'commission_rate must be a number from 0 to 100 with at most 2 decimals',
    ),
  },
});

export const updateAffiliate = defineOperation({
  ...action,
  method: 'PATCH',
  path: '/integrations/affiliates/{employee_id}',
  tag: 'Affiliates',
  summary: 'Update, approve or deactivate an affiliate',
  description: 'Only the sent fields change. null clears an optional field.',
  params: r.affiliatePath,
  body: r.updateAffiliateBody,
  bodyExample: { is_approved: true, commission_rate: 15 },
  answers: {
    200: {
      description: 'Updated.',
      schema: r.affiliateUpdated,
      example: { success: true, updated_utc: '2026-01-15T09:31:00.000Z', employee_id: 16, version: 2 },
    },
  },
  errors: { 400: r.externalIdTaken, 404: r.recordMissing('affiliate') },
});
