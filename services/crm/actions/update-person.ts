import { type BodyOf, type contract, invalid, notFound, Problem, updateProblems } from '@causeway/proto';
import { type Answer, json } from '@causeway/runtime';
import type { ClientRow, Store } from '../store/store.ts';
import type { Action, Group, Submission } from './action.ts';
import { searchedDiffers } from './create-person.ts';
import {
  applyFields,
  differs,
  externalIdTakenError,
  externalName,
  otherKindError,
  recordName,
} from './person.ts';

type Body = BodyOf<(typeof contract)['updateLead' | 'updateClient']>;

/** Changes the sent fields of a lead, or of a client (contract, "Leads and clients"). */
export const updatePerson = (store: Store, kind: 'lead' | 'client'): Action<Body, Answer> => ({
  turns: ({ companyId, recordId, body }) => [
    recordName('client', companyId, recordId),
    ...(body.external_id ? [externalName('client', companyId, body.external_id)] : []),
  ],
  references: ({ employee_id, affiliate_id }) => ({ people: { employee_id, affiliate_id } }),
  run: async (group, submissions) => {
    const { trx, known, now } = group;
    const records = await lockRecords(store, group, submissions);
    const changes = submissions.map((one) => {
      const before = records.get(one);
      const status = before && known.statuses.of(before);
      if (!status) return notFound(kind);
      if (status.isLead !== (kind === 'lead')) return otherKindError(kind, before.client_id);
      const shown = { ...before, status: status.name, is_lead: status.isLead };
      const problems = updateProblems(one.body, shown, {
        status: `PATCH /integrations/${kind}s/${before.client_id}/status`,
      });
      if (problems.length > 0) return invalid(problems);
      const after = { ...applyFields(before, one.body), updated_utc: now };
      return { before, after: differs(before, after) ? after : before };
    });
    const made = changes.flatMap((change) =>
      change instanceof Problem || change.after === change.before ? [] : [change],
    );
    await store.clients.update(
      trx,
      made.map(({ after }) => after),
    );
    await store.clients.markForSearch(
      trx,
      made.filter(({ before, after }) => searchedDiffers(before, after)).map(({ after }) => after),
    );
    return changes.map((change) => ({
      result:
        change instanceof Problem
          ? change
          : json(200, {
              success: true,
              updated_utc: change.after.updated_utc,
              client_id: change.after.client_id,
            }),
    }));
  },
  onTaken: async (_, { companyId, body }, db) => {
    const holder = await store.clients.holderOf(db, companyId, body.external_id!).catch(() => undefined);
    return externalIdTakenError('client_id', holder);
  },
});

/** Locks the records of the paths. A record missing from the result does not exist in the call's company. */
export const lockRecords = async (
  store: Store,
  { trx }: Group,
  submissions: readonly Submission<unknown>[],
): Promise<LockedRecords> => byPath(await store.clients.lockById(trx, keysOf(submissions)), submissions);

/** The same with the transaction's next statement; the returned function returns the records once it has run. */
export const lockRecordsLater = async (
  store: Store,
  trx: Group['trx'],
  submissions: readonly Submission<unknown>[],
): Promise<() => LockedRecords> => {
  const readRows = await store.clients.lockById.later(trx, keysOf(submissions));
  return () => byPath(readRows(), submissions);
};

export type LockedRecords = ReadonlyMap<Submission<unknown>, ClientRow>;

const keysOf = (submissions: readonly Submission<unknown>[]) =>
  submissions.map(({ companyId, recordId }) => ({ company_id: companyId, client_id: recordId }));

const byPath = (rows: readonly ClientRow[], submissions: readonly Submission<unknown>[]): LockedRecords => {
  const byName = new Map(rows.map((row) => [recordName('client', row.company_id, row.client_id), row]));
  return new Map(
    submissions.flatMap((one) => {
      const row = byName.get(recordName('client', one.companyId, one.recordId));
      return row ? [[one, row]] : [];
    }),
  );
};
