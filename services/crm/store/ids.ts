import { createIds, type Database, type Ids } from '@causeway/runtime';
import type { Tables } from '../tables.ts';

export type RecordIds = Readonly<Record<'clients' | 'affiliates' | 'notes' | 'events', Ids>>;

export const createRecordIds = (db: Database<Tables>): RecordIds => {
  const created_utc = new Date(0);
  const named = { company_id: 0, first_name: '', last_name: '', email: '' };
  const note = { company_id: 0, client_id: 0, text: '', note_type: '', visibility: '' };
  const event = { company_id: 0, sequence: 0, created_utc, type: '', payload: '{}' };
  return {
    clients: createIds(db, { table: 'clients', id: 'client_id', row: { ...named, status_id: 1 } }),
    affiliates: createIds(db, { table: 'employees', id: 'employee_id', row: { ...named, role_id: 1 } }),
    notes: createIds(db, {
      table: 'client_notes',
      id: 'client_note_id',
      row: { ...note, created_utc, updated_utc: created_utc },
    }),
    events: createIds(db, { table: 'events', id: 'event_id', row: event }),
  };
};
