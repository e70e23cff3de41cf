import { type ExportedKind, exportPage } from '@causeway/identity';
import { contract, encodeEnvelope } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { ActionsContext } from './context.ts';
import { selectAffiliates, selectNotes, selectPeople, showAffiliate, showPerson } from './records.ts';

export const exportRecords = ({ db }: ActionsContext) =>
  handler(contract.exportRecords, async ({ body: { company_id, after } }) =>
    json(200, await exportPage(kindsOf(db, company_id), after)),
  );

const kindsOf = (db: ActionsContext['db'], companyId: number): readonly ExportedKind[] => [
  {
    type: 'settings',
    read: async () => {
      const rows = await db
        .selectFrom('company_settings')
        .select('default_client_status_id')
        .where('company_id', '=', companyId)
        .execute();
      return rows.map((row) => ({ key: [0], line: lineOf('settings', row) }));
    },
  },
  {
    type: 'status',
    read: async ([after = 0], limit) => {
      const rows = await db
        .selectFrom('statuses')
        .select(['status_id', 'status_name', 'is_lead', 'is_valid', 'is_active', 'color_code'])
        .where('company_id', '=', companyId)
        .where('status_id', '>', after)
        .orderBy('status_id')
        .limit(limit)
        .execute();
      return rows.map((row) => ({ key: [row.status_id], line: lineOf('status', row) }));
    },
  },
  {
    type: 'affiliate',
    read: async ([after = 0], limit) => {
      const rows = await selectAffiliates(db, companyId)
        .where('employee_id', '>', after)
        .orderBy('employee_id')
        .limit(limit)
        .execute();
      return rows.map((row) => ({ key: [row.employee_id], line: lineOf('affiliate', showAffiliate(row)) }));
    },
  },
  {
    type: 'person',
    read: async ([after = 0], limit) => {
      const rows = await selectPeople(db, companyId)
        .where('client_id', '>', after)
        .orderBy('client_id')
        .limit(limit)
        .execute();
      return rows.map((row) => ({ key: [row.client_id], line: lineOf('person', showPerson(row)) }));
    },
  },
  {
    type: 'note',
    read: async ([after = 0], limit) => {
      const rows = await selectNotes(db, companyId)
        .where('client_note_id', '>', after)
        .orderBy('client_note_id')
        .limit(limit)
        .execute();
      return rows.map((row) => ({ key: [row.client_note_id], line: lineOf('note', row) }));
    },
  },
  {
    type: 'status_change',
    read: async ([client = 0, change = 0], limit) => {
      const rows = await db
        .selectFrom('client_status_history')
        .selectAll()
        .where('company_id', '=', companyId)
        .where(({ eb, refTuple, tuple }) =>
          eb(refTuple('client_id', 'change_id'), '>', tuple(client, change)),
        )
        .orderBy('client_id')
        .orderBy('change_id')
        .limit(limit)
        .execute();
      return rows.map(({ company_id: _, ...row }) => ({
        key: [row.client_id, row.change_id],
        line: lineOf('status_change', row),
      }));
    },
  },
  {
    type: 'event',
    read: async ([after = 0], limit) => {
      const rows = await db
        .selectFrom('events')
        .select(['company_id', 'sequence', 'event_id', 'type', 'created_utc', 'payload', 'origin'])
        .where('company_id', '=', companyId)
        .where('sequence', '>', after)
        .orderBy('sequence')
        .limit(limit)
        .execute();
      return rows.map((row) => ({
        key: [row.sequence],
        // The envelope byte for byte, as it was delivered.
        line: `{"type":"event","origin":${JSON.stringify(row.origin)},"event":${encodeEnvelope(row)}}`,
      }));
    },
  },
];

const lineOf = (type: string, row: object): string => JSON.stringify({ type, ...row });
