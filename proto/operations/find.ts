import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { email, idParameter, phone } from '../schemas/fields.ts';
import { personFound, personFoundExample, reading } from '../schemas/records.ts';
import { count, rule, text } from '../schemas/values.ts';

const oneOf = 'at least one of email, phone, external_id and client_id is required';

const query = z
  .strictObject({
    email: email.optional(),
    phone: phone.optional(),
    external_id: text({ min: 1, max: 100 }).optional(),
    client_id: idParameter.optional(),
  })
  .check(
    rule((given) =>
      Object.values(given).every((value) => value === undefined)
        ? { field: 'email', code: 'required', message: oneOf }
        : undefined,
    ),
  );

const find = {
  ...reading,
  tag: 'Search',
  params: {},
  query,
  errors: {
    400: {
      description: 'No parameter was sent, or a parameter is unknown or not valid.',
      example: { error: oneOf, details: [{ field: 'email', code: 'required', message: oneOf }] },
    },
  },
} as const;

const rules =
  'Emails are compared without case and in no other way, phones by their digits, a `(0)` and an extension that only one of the two has left out, the rest exactly. A record must match all given parameters. Returns at most 25 records, newest first; `hasMore` says whether there are others.';

const answer = z.object({
  clients: z.array(personFound).max(25),
  count,
  hasMore: z.boolean().meta({ description: 'True if more records match than the answer holds.' }),
});

export const findClients = defineOperation({
  ...find,
  path: '/integrations/clients/find',
  summary: 'Find clients',
  description: `Finds clients (not leads) by email, phone, external_id or client_id. ${rules}`,
  answers: {
    200: {
      description: 'The clients found.',
      schema: answer,
      example: {
        clients: [{ ...personFoundExample, status: 'Client - Active', is_lead: false }],
        count: 1,
        hasMore: false,
      },
    },
  },
});

export const findLeads = defineOperation({
  ...find,
  path: '/integrations/leads/find',
  summary: 'Find leads',
  description: `Finds leads (not clients) by email, phone, external_id or client_id. ${rules}`,
  answers: {
    200: {
      description: 'The leads found, in the field `clients`.',
      schema: answer,
      example: {
        clients: [{ ...personFoundExample, status: 'Lead - New', is_lead: true }],
        count: 1,
        hasMore: false,
      },
    },
  },
});
