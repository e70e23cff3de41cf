import { writeAudit } from '@causeway/identity';
import {
  type AuditSource,
  byKey,
  byMember,
  byOperator,
  definitions,
  notFound,
  type Problem,
} from '@causeway/proto';
import { type Answer, handler, json, type OperationCall } from '@causeway/runtime';
import type { ActionsContext } from '../context.ts';
import type { ChangedRecord } from '../events/event-log.ts';
import type { ClientRow } from '../store/store.ts';
import type { Action, Change, Group } from './action.ts';

/** Contract, "Erasure". What the record's transaction leaves, `erasures.ts` removes afterwards. */
export const erasePerson = ({ runner }: ActionsContext) =>
  handler(definitions.erasePerson, async (call) => {
    const byCommand = call.audience === 'operator';
    const submission = {
      companyId: byCommand ? call.body.company_id : call.companyId,
      recordId: byCommand ? call.body.client_id : call.id('person'),
      body: { by: sourceOf(call) },
      origin: byCommand
        ? 'operator'
        : call.audience === 'key'
          ? `key:${call.keyId}`
          : `member:${call.user.id}`,
    };
    const answer = await runner.submit(
      erase,
      submission,
      call.deadlineMs,
      byCommand ? undefined : call.identity,
    );
    const { companyId: company_id, recordId: client_id } = submission;
    return byCommand ? json(200, { company_id, client_id }) : answer;
  });

const sourceOf = (call: OperationCall<typeof definitions.erasePerson>): AuditSource => {
  switch (call.audience) {
    case 'key':
      return byKey(call);
    case 'member':
      return byMember(call);
    default:
      return byOperator(call.requestId);
  }
};

const erase: Action<{ readonly by: AuditSource }, Answer> = {
  locks: ({ recordId }) => ({ clientById: recordId }),
  change: async (group, submissions) => {
    const changes: (Change | Problem)[] = [];
    for (const one of submissions) {
      const person = group.locked.get(one)?.clientById;
      changes.push(person ? await eraseRecord(group, person, one.body.by) : notFound('person'));
    }
    return changes;
  },
  answer: () => ({ status: 204, body: null }),
};

const eraseRecord = async ({ trx, now }: Group, person: ClientRow, by: AuditSource): Promise<Change> => {
  const { company_id, client_id } = person;
  const notes = await trx
    .selectFrom('client_notes')
    .select(['company_id', 'client_note_id', 'version'])
    .where('company_id', '=', company_id)
    .where('client_id', '=', client_id)
    .forUpdate()
    .execute();
  for (const table of ['client_notes', 'client_status_history', 'client_search_pending', 'clients'] as const)
    await trx
      .deleteFrom(table)
      .where('company_id', '=', company_id)
      .where('client_id', '=', client_id)
      .execute();
  await trx.insertInto('erasures').values({ company_id, client_id, erased_utc: now, due_utc: now }).execute();
  await writeAudit(trx, {
    companyId: company_id,
    by,
    action: 'person.erased',
    target: { kind: 'person', id: client_id, name: `person ${client_id}` },
    at: now,
  });
  const gone = <Row extends { readonly version: number }>(row: Row) => ({
    ...row,
    version: row.version + 1,
    updated_utc: now,
  });
  const records: ChangedRecord[] = [
    ...notes.map((row): ChangedRecord => ({ type: 'note', row: gone(row), isDeleted: true })),
    { type: 'person', row: gone(person), isDeleted: true },
  ];
  return { records };
};
