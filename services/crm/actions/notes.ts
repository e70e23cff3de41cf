import { type BodyOf, contract, notFound, type Problem } from '@causeway/proto';
import type { Answer } from '@causeway/runtime';
import type { ActionsContext } from '../context.ts';
import { type NoteRow, notes } from '../store/store.ts';
import { type Action, type Change, isChange, refusalOf, type Submission, versionedAnswer } from './action.ts';
import { handleAction } from './handle-action.ts';
import { withChanges } from './person.ts';

type Body = BodyOf<typeof contract.addClientNote>;

export const addClientNote = (context: ActionsContext) =>
  handleAction(context, contract.addClientNote, 'client', addNote);

interface NoteChange extends Change {
  /** Without a `before`, it is new. */
  readonly before?: NoteRow;
  readonly after: NoteRow;
}

/** A note whose `external_id` exists is changed and moved to the path's record (contract, "external_id"). */
export const addNote: Action<Body, Answer, NoteChange> = {
  locks: ({ recordId, body }) => ({ clientById: recordId, noteByExternalId: body.external_id }),
  makes: 'notes',
  change: async (group, submissions) => {
    const { trx, now, locked, ids } = group;
    const isNew = (one: Submission<Body>): boolean => {
      const { clientById, noteByExternalId } = locked.get(one) ?? {};
      return clientById !== undefined && !noteByExternalId;
    };
    const newIds = [...(await ids.notes.take(submissions.filter(isNew).length))];
    const changes = submissions.map((submission): NoteChange | Problem => {
      const { companyId: company_id, recordId: client_id, body } = submission;
      const { clientById, noteByExternalId: before } = locked.get(submission) ?? {};
      if (!clientById) return notFound('client');
      const refused = refusalOf(group, submission, 'client_note_id', before);
      if (refused) return refused;
      if (before) {
        const after = withChanges(before, { ...changedFields(body), client_id }, submission, now);
        return { before, after, changed: after !== before };
      }
      const after = {
        company_id,
        client_id,
        client_note_id: newIds.shift()!,
        text: body.text,
        note_type: body.note_type ?? defaultType,
        visibility: body.visibility ?? defaultVisibility,
        external_id: body.external_id ?? null,
        version: 1,
        origin: submission.origin,
        created_utc: now,
        updated_utc: now,
      };
      return { isNew: true, after, changed: true };
    });
    const valid = changes.filter(isChange);
    await notes.update(
      trx,
      valid.filter(({ before, after }) => before && before !== after).map(({ after }) => after),
    );
    await notes.insert(
      trx,
      valid.filter(({ isNew }) => isNew).map(({ after }) => after),
    );
    return changes;
  },
  answer: ({ isNew, after }) => {
    const { client_note_id, created_utc } = after;
    return versionedAnswer(isNew ? 201 : 200, { client_note_id, created_utc }, after);
  },
};

const defaultType = 'general';
export const defaultVisibility = 'internal';

const changedFields = ({ text, note_type, visibility }: Body) => ({
  text,
  ...(note_type !== undefined && { note_type: note_type ?? defaultType }),
  ...(visibility !== undefined && { visibility: visibility ?? defaultVisibility }),
});
