import { type BodyOf, contract, notFound } from '@causeway/proto';
import { type Answer, json } from '@causeway/runtime';
import type { ActionsContext } from '../context.ts';
import type { NoteRow, Store } from '../store/store.ts';
import { type Action, type Group, handleAction, type Outcome, type Submission } from './action.ts';
import { type LockedRecords, lockRecordsLater } from './people.ts';
import { differs, externalName, recordName } from './person.ts';

type Body = BodyOf<typeof contract.addClientNote>;

export const addClientNote = (context: ActionsContext) =>
  handleAction(context, contract.addClientNote, 'client', addNote(context.store));

/**
 * Adds notes to leads and clients. If a note with the `external_id` exists, applies the sent fields to it instead and
 * moves it to the record of the path (contract, "external_id").
 */
const addNote = (store: Store): Action<Body, Answer> => ({
  turns: ({ companyId, recordId, body }) => [
    recordName('client', companyId, recordId),
    ...(body.external_id ? [externalName('note', companyId, body.external_id)] : []),
  ],
  lock: async (trx, submissions) => {
    const readRecords = await lockRecordsLater(store, trx, submissions);
    const readNotes = await store.notes.lockByExternalId.later(
      trx,
      submissions.flatMap(({ companyId, body }) =>
        body.external_id ? [{ company_id: companyId, external_id: body.external_id }] : [],
      ),
    );
    return (group, accepted) => writeNotes(store, group, accepted, readRecords(), readNotes());
  },
  onTaken: async () => undefined,
});

const writeNotes = async (
  store: Store,
  { trx, now }: Group,
  submissions: readonly Submission<Body>[],
  records: LockedRecords,
  notes: readonly NoteRow[],
): Promise<readonly Outcome<Answer>[]> => {
  const there = submissions.filter((one) => records.has(one));
  const existing = new Map(
    notes.map((note) => [externalName('note', note.company_id, note.external_id ?? ''), note]),
  );
  const noteOf = ({ companyId, body }: Submission<Body>) =>
    body.external_id ? existing.get(externalName('note', companyId, body.external_id)) : undefined;

  const fresh = there.filter((one) => !noteOf(one));
  const idAt = await store.notes.insert(
    trx,
    fresh.map(({ companyId, recordId, body }) => ({
      company_id: companyId,
      client_id: recordId,
      text: body.text,
      note_type: body.note_type ?? defaultType,
      visibility: body.visibility ?? defaultVisibility,
      external_id: body.external_id ?? null,
      created_utc: now,
      updated_utc: now,
    })),
  );
  const met = there.flatMap((one) => {
    const note = noteOf(one);
    const after = note && { ...note, ...changed(one.body), client_id: one.recordId };
    return after && differs(note, after) ? [{ ...after, updated_utc: now }] : [];
  });
  await store.notes.update(trx, met);

  const places = new Map(fresh.map((one, at) => [one, at]));
  return submissions.map((one): Outcome<Answer> => {
    if (!records.has(one)) return { result: notFound('client') };
    const at = places.get(one);
    if (at !== undefined) return { result: () => json(201, { client_note_id: idAt(at), created_utc: now }) };
    const note = noteOf(one)!;
    return { result: json(200, { client_note_id: note.client_note_id, created_utc: note.created_utc }) };
  });
};

/** Contract, "Fields". */
const defaultType = 'general';
export const defaultVisibility = 'internal';

const changed = ({ text, note_type, visibility }: Body) => ({
  text,
  ...(note_type !== undefined && { note_type: note_type ?? defaultType }),
  ...(visibility !== undefined && { visibility: visibility ?? defaultVisibility }),
});
