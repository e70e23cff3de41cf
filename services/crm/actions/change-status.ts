import { type BodyOf, contract, notFound, Problem } from '@causeway/proto';
import { type Answer, json } from '@causeway/runtime';
import type { ActionsContext } from '../context.ts';
import type { ClientRow, Store } from '../store/store.ts';
import { type Action, handleAction } from './action.ts';
import { defaultVisibility } from './notes.ts';
import { lockRecords } from './people.ts';
import { otherKindError, recordName } from './person.ts';
import { convertedEvent, statusChange } from './statuses.ts';

export const updateLeadStatus = (context: ActionsContext) =>
  handleAction(context, contract.updateLeadStatus, 'lead', changeStatus(context.store, 'lead'));

export const updateClientStatus = (context: ActionsContext) =>
  handleAction(context, contract.updateClientStatus, 'client', changeStatus(context.store, 'client'));

type Body = BodyOf<(typeof contract)['updateLeadStatus' | 'updateClientStatus']>;

/**
 * Sets another lead status on a lead, or another client status on a client or lead; the latter is an event
 * (contract, "Leads and clients"). Setting the current status changes nothing. A note sent along becomes a note of
 * the record.
 */
const changeStatus = (store: Store, kind: 'lead' | 'client'): Action<Body, Answer> => ({
  turns: ({ companyId, recordId }) => [recordName('client', companyId, recordId)],
  references: ({ new_status, new_status_id, changed_by_employee_id }) => ({
    people: { changed_by_employee_id },
    statuses: { new_status, new_status_id },
    statusKind: kind,
  }),
  run: async (group, submissions) => {
    const { trx, known, now } = group;
    const records = await lockRecords(store, group, submissions);
    const changes = submissions.map((one) => {
      const before = records.get(one);
      const from = before && known.statuses.of(before);
      if (!from) return notFound(kind);
      if (kind === 'lead' && !from.isLead) return otherKindError(kind, before.client_id, '/status');
      const to = known.statuses.find(one.companyId, (one.body.new_status ?? one.body.new_status_id)!)!;
      const differs = from.id !== to.id;
      const after = differs ? { ...before, status_id: to.id, updated_utc: now } : before;
      return { reason: one.body, after, from, to, differs };
    });
    const valid = changes.flatMap((change) => (change instanceof Problem ? [] : [change]));
    const made = valid.filter((change) => change.differs);
    await store.clients.update(
      trx,
      made.map(({ after }) => after),
    );
    await store.clients.insertStatusChanges(
      trx,
      made.map(({ after, from, to, reason }) => statusChange(after, from, to, reason, now)),
    );
    // Without a status change there is no history row to carry the note.
    await store.notes.insert(
      trx,
      valid.flatMap(({ differs, reason: { status_note }, after }) =>
        status_note && !differs ? [statusNote(after, status_note, now)] : [],
      ),
    );
    return changes.map((change) => {
      if (change instanceof Problem) return { result: change };
      const { after, from, to, reason, differs } = change;
      const answer = { previous_status: from.name, new_status: to.name, updated_utc: after.updated_utc };
      return {
        result: json(200, answer),
        events: differs && kind === 'client' ? [convertedEvent(after, from, to, reason, now)] : [],
      };
    });
  },
  onTaken: async () => undefined,
});

const statusNote = ({ company_id, client_id }: ClientRow, text: string, now: Date) => ({
  company_id,
  client_id,
  text,
  note_type: 'status',
  visibility: defaultVisibility,
  external_id: null,
  created_utc: now,
  updated_utc: now,
});
