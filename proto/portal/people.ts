import { z } from 'zod';
import { defineOperation, memberDefaults } from '../operation.ts';
import { id, instant, text } from '../schemas/values.ts';
import { numberList } from './fields.ts';

const people = { ...memberDefaults, service: 'crm', role: 'viewer', method: 'GET' } as const;

const hidden = 'Null for viewers.';

const portalPerson = z.object({
  id,
  name: z.string().nullable().meta({ description: hidden }),
  email: z.string().nullable().meta({ description: hidden }),
  externalId: z.string().nullable(),
  isLead: z.boolean(),
});

/**
 * Either the people with these numbers, or those whom a text finds: by number, external id and email address, and for
 * others than viewers by a part of the name, the address or the phone number. The best match first.
 */
export const listPortalPeople = defineOperation({
  ...people,
  path: '/people',
  query: z.strictObject({
    ids: numberList(100).optional(),
    q: text({ min: 1, max: 254 }).optional(),
  }),
  answers: { 200: { schema: z.object({ people: z.array(portalPerson).max(100) }) } },
});

/** The record, and what is known of its past; null if no record has this number, as after its erasure. */
export const getPortalPerson = defineOperation({
  ...people,
  path: '/people/{client_id}',
  answers: {
    200: {
      schema: z.object({
        person: portalPerson
          .extend({
            phone: z.string().nullable().meta({ description: hidden }),
            status: z.string(),
            version: z.int().min(1),
            createdUtc: instant,
            updatedUtc: instant,
            origin: z.string().meta({ description: 'Who made this version (contract, "Changes").' }),
          })
          .nullable(),
        erasedUtc: instant.nullable(),
      }),
    },
  },
});
