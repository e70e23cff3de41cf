import { type ExportedKind, exportedRows, exportPage } from '@causeway/identity';
import { contract, encodeEnvelope } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { ActionsContext } from './context.ts';
import { selectAffiliates, selectNotes, selectPeople, showAffiliate, showPerson } from './records.ts';

export const exportRecords = ({ db }: ActionsContext) =>
  handler(contract.exportRecords, async ({ body: { company_id, after } }) =>
    json(200, await exportPage(kindsOf(db, company_id), after)),
  );

const kindsOf = (db: ActionsContext['db'], companyId: number): readonly ExportedKind[] => [
  exportedRows(
    'settings',
    db.selectFrom('company_settings').select('default_client_status_id').where('company_id', '=', companyId),
    [],
  ),
  exportedRows(
    'status',
    db
      .selectFrom('statuses')
      .select(['status_id', 'status_name', 'is_lead', 'is_valid', 'is_active', 'color_code'])
      .where('company_id', '=', companyId),
    ['status_id'],
  ),
  exportedRows('affiliate', selectAffiliates(db, companyId), ['employee_id'], showAffiliate),
  exportedRows('person', selectPeople(db, companyId), ['client_id'], showPerson),
  exportedRows('note', selectNotes(db, companyId), ['client_note_id']),
  exportedRows(
    'status_change',
    db.selectFrom('client_status_history').selectAll().where('company_id', '=', companyId),
    ['client_id', 'change_id'],
    ({ company_id: _, ...row }) => row,
  ),
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
