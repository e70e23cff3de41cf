import { type BodyOf, contract, notFound, type Problem } from '@causeway/proto';
import type { Answer } from '@causeway/runtime';
import type { ActionsContext } from '../context.ts';
import { type ClientRow, notes } from '../store/store.ts';
import { type Action, type Change, isChange, refusalOf, versionedAnswer } from './action.ts';
import { handleAction } from './handle-action.ts';
import { defaultVisibility } from './notes.ts';
import { changePerson, writeChanges } from './people.ts';
import { otherKindError } from './person.ts';
import type { Status } from './statuses.ts';

export const updateLeadStatus = (context: ActionsContext) =>
  handleAction(context, contract.updateLeadStatus, 'lead', changeStatus('lead'));

export const updateClientStatus = (context: ActionsContext) =>
  handleAction(context, contract.updateClientStatus, 'client', changeStatus('client'));

type Body = BodyOf<(typeof contract)['updateLeadStatus' | 'updateClientStatus']>;

interface StatusChange extends Change {
  readonly before: ClientRow;
  readonly after: ClientRow;
  readonly from: Status;
  readonly to: Status;
  readonly note: ReturnType<typeof statusNote> | null;
}

/** Only a new client status is an event; the current one changes nothing (contract, "Leads and clients"). */
const changeStatus = (kind: 'lead' | 'client'): Action<Body, Answer, StatusChange> => ({
  locks: ({ recordId }) => ({ clientById: recordId }),
  references: ({ new_status, new_status_id, changed_by_employee_id }) => ({
    people: { changed_by_employee_id },
    statuses: { new_status, new_status_id },
    statusKind: kind,
  }),
  mayCauseEvent: kind === 'client',
  change: async (group, submissions) => {
    const { trx, known: references, now, locked, ids } = group;
    const changes = submissions.map((submission): StatusChange | Problem => {
      const { body: reason } = submission;
      const before = locked.get(submission)?.clientById;
      const from = before && references.statuses.of(before);
      if (!from) return notFound(kind);
      if (kind === 'lead' && !from.isLead) return otherKindError(kind, before.client_id, '/status');
      const refused = refusalOf(group, submission, 'client_id', before);
      if (refused) return refused;
      const to = references.statuses.find(
        submission.companyId,
        (reason.new_status ?? reason.new_status_id)!,
      )!;
      const change = changePerson(group, submission, before, {}, to, reason);
      const { after } = change;
      // Without a status change there is no history row to carry the note.
      const note =
        reason.status_note && after === before
          ? statusNote(after, reason.status_note, submission, now)
          : null;
      return { ...change, note, changed: change.changed || note !== null };
    });
    const valid = changes.filter(isChange);
    await writeChanges(group, valid);
    const newNotes = valid.flatMap(({ note }) => note ?? []);
    const noteIds = await ids.notes.take(newNotes.length);
    await notes.insert(
      trx,
      newNotes.map((note, at) => ({ ...note, client_note_id: noteIds[at]! })),
    );
    return changes;
  },
  answer: ({ from, to, after }) =>
    versionedAnswer(
      200,
      { previous_status: from.name, new_status: to.name, updated_utc: after.updated_utc },
      after,
    ),
});

const statusNote = (
  { company_id, client_id }: ClientRow,
  text: string,
  { origin }: { readonly origin: string },
  now: Date,
) => ({
  company_id,
  client_id,
  text,
  note_type: 'status',
  visibility: defaultVisibility,
  external_id: null,
  version: 1,
  origin,
  created_utc: now,
  updated_utc: now,
});
