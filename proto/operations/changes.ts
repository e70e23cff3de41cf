import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { limitParameter, waitParameter } from '../schemas/fields.ts';
import { actionInvalid, affiliate, note, person, personExample, reading } from '../schemas/records.ts';
import { id, instant, issueOf } from '../schemas/values.ts';

/** The kinds of records whose changes can be followed. */
export const recordTypes = ['person', 'affiliate', 'note'] as const;
export type RecordType = (typeof recordTypes)[number];

const changedTypes = z
  .string()
  .transform((value, context): readonly RecordType[] => {
    const types = value.split(',').map((type) => type.trim());
    if (types.every((type): type is RecordType => (recordTypes as readonly string[]).includes(type)))
      return recordTypes.filter((type) => types.includes(type));
    const message = 'types must be of person, affiliate and note, separated by commas';
    context.issues.push(issueOf(value, { code: 'out_of_range', message }));
    return z.NEVER;
  })
  .default([...recordTypes])
  .meta({
    type: 'string',
    pattern: '^(person|affiliate|note)(,(person|affiliate|note))*$',
    default: recordTypes.join(','),
    description: 'The kinds of records, separated by commas.',
  });

/** Deletions are forgotten after this; an older cursor could miss one. */
export const deletionsKeptDays = 90;

/** 410: the cursor is too old. */
export const changesForgotten = 'deletions after this cursor are forgotten; begin again without a cursor';

const kind = <Type extends RecordType, Whole extends z.ZodType>(type: Type, record: Whole) =>
  z.object({
    sequence: z.int().min(1).meta({ description: 'Rises with each change in the company.' }),
    type: z.enum([type]),
    id: id.meta({ description: 'The client_id, employee_id or client_note_id.' }),
    operation: z.enum(['upsert', 'delete']),
    origin: z.string().meta({
      description: 'Who made the change: `key:<id>`, `member:<id>`, `operator` or `system`.',
    }),
    version: z.int().min(1),
    external_id: z.string().nullable(),
    changed_utc: instant,
    record: record.nullable().meta({ description: 'The whole record; null if it was deleted.' }),
  });

export const changeKinds = {
  PersonChange: kind('person', person),
  AffiliateChange: kind('affiliate', affiliate),
  NoteChange: kind('note', note),
};
export const change = z.union(Object.values(changeKinds));

export const listChanges = defineOperation({
  ...reading,
  path: '/integrations/changes',
  waitsFor: 'changes',
  tag: 'Changes',
  summary: 'Follow all changes',
  description:
    'Every person, affiliate and note at its latest change, in the order in which the changes were committed. Without `cursor` it begins with the oldest, so reading to `hasMore: false` gives every record once. Then ask again with the last `nextCursor`, at any time. A record that changes meanwhile comes again, at its new place. Whoever applies each entry whose `version` is higher than the one it has, and reads to `hasMore: false`, has the state of that moment. To start from now, begin with `cursor=latest`. To learn of changes within a second or two, follow with `wait=25&limit=1000`, which fits into the limit of reads. Your own changes come too, at the `version` that the answer to the write had.',
  params: {},
  query: z.strictObject({
    cursor: z
      .string()
      .regex(/^[\w-]{1,200}$/, { error: 'invalid cursor' })
      .optional()
      .meta({
        description: 'The opaque `nextCursor` of an earlier answer for the same `types`, or `latest`.',
      }),
    types: changedTypes,
    limit: limitParameter({ min: 1, max: 1000, otherwise: 100 }),
    wait: waitParameter,
  }),
  answers: {
    200: {
      description: 'The changes, and the cursor of the next page.',
      schema: z.object({
        changes: z.array(change).max(1000),
        nextCursor: z.string().meta({ description: 'Never null, since changes may follow.' }),
        hasMore: z.boolean(),
      }),
      example: {
        changes: [
          {
            sequence: 7301,
            type: 'person',
            id: 1042,
            operation: 'upsert',
            origin: 'key:12',
            version: 2,
            external_id: 'crm-88',
            changed_utc: '2026-01-15T09:31:00.000Z',
            record: personExample,
          },
        ],
        nextCursor: 'WyJjaGFuZ2VzIiw3MzAxXQ',
        hasMore: false,
      },
    },
  },
  errors: {
    400: actionInvalid('cursor', 'invalid_characters', 'invalid cursor'),
    410: {
      description:
        'The cursor is older than the time for which deletions are kept. Begin again without a cursor.',
      example: { error: changesForgotten, reason: 'cursor_expired' },
    },
  },
});
