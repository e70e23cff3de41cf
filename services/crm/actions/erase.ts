import { originOf, writeAudit } from '@causeway/identity';
import { type AuditSource, byKey, byMember, byOperator, definitions, notFound } from '@causeway/proto';
import { handler, json, type OperationCall, type Trx } from '@causeway/runtime';
import type { ActionsContext } from '../context.ts';
import { lastNumber, lockNumbers, type NumberedChange, writeNumbers } from '../number-changes.ts';
import type { Tables } from '../tables.ts';

/**
 * Contract, "Erasure". What the record's transaction leaves, `erasures.ts` removes afterwards. The transaction is its own,
 * not one of the runner's groups, so that other calls do not wait for a person with many notes.
 */
export const erasePerson = ({ once, events, now }: ActionsContext) =>
  handler(definitions.erasePerson, async (call) => {
    const byCommand = call.audience === 'operator';
    const company_id = byCommand ? call.body.company_id : call.companyId;
    const client_id = byCommand ? call.body.client_id : call.id('person');
    const answer = await once.carryOut(byCommand ? undefined : call.identity, async (trx) => {
      const at = now();
      const origin = originOf(makerOf(call));
      // Before the records, as a reader does that numbers changes.
      await lockNumbers(trx, company_id);
      const deletions = await deleteRecords(trx, { company_id, client_id });
      await writeNumbers(
        trx,
        company_id,
        await lastNumber(trx, company_id),
        deletions.map((deletion) => ({ ...deletion, origin, changed_utc: at, is_deleted: 1 })),
      );
      await trx
        .insertInto('erasures')
        .values({ company_id, client_id, erased_utc: at, due_utc: at })
        .execute();
      await writeAudit(trx, {
        companyId: company_id,
        by: sourceOf(call),
        action: 'person.erased',
        target: { kind: 'person', id: client_id, name: `person ${client_id}` },
        at,
      });
      await events.write({ trx, now: at }, [{ companyId: company_id, origin, events: [], changed: true }]);
      return { status: 204, body: null };
    });
    return byCommand ? json(200, { company_id, client_id }) : answer;
  });

type EraseCall = OperationCall<typeof definitions.erasePerson>;

const makerOf = (call: EraseCall) =>
  call.audience === 'member' ? { actor: call.actor } : { keyId: 'keyId' in call ? call.keyId : undefined };

const sourceOf = (call: EraseCall): AuditSource => {
  switch (call.audience) {
    case 'key':
      return byKey(call);
    case 'member':
      return byMember(call);
    default:
      return byOperator(call.requestId);
  }
};

/** @returns what the changes feed tells of it. @throws Problem `not_found` */
const deleteRecords = async (
  trx: Trx<Tables>,
  { company_id, client_id }: { readonly company_id: number; readonly client_id: number },
): Promise<readonly Pick<NumberedChange, 'type' | 'record_id' | 'version'>[]> => {
  const person = await trx
    .selectFrom('clients')
    .select('version')
    .where('company_id', '=', company_id)
    .where('client_id', '=', client_id)
    .forUpdate()
    .executeTakeFirst();
  if (!person) throw notFound('person');
  const notes = await trx
    .selectFrom('client_notes')
    .select(['client_note_id', 'version'])
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
  return [
    ...notes.map(({ client_note_id, version }) => ({
      type: 'note' as const,
      record_id: client_note_id,
      version: version + 1,
    })),
    { type: 'person', record_id: client_id, version: person.version + 1 },
  ];
};
