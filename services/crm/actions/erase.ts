import { originOf, writeAudit } from '@causeway/identity';
import {
  type AuditSource,
  byKey,
  byMember,
  byOperator,
  type Condition,
  definitions,
  notFound,
} from '@causeway/proto';
import { handler, json, type OperationCall, type Trx } from '@causeway/runtime';
import type { ActionsContext } from '../context.ts';
import { eraseSlice } from '../erasures.ts';
import { lockNumbers } from '../number-changes.ts';
import type { Tables } from '../tables.ts';
import { brokenCondition } from './action.ts';

/**
 * Contract, "Erasure". The transaction removes the person, so that nothing of it can be read, and no more rows than hold nobody up.
 * `erasures.ts` removes the rest afterwards.
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
      const condition = call.audience === 'key' ? call.condition : undefined;
      const { version } = await deletePerson(trx, { company_id, client_id, condition });
      const erasure = { company_id, client_id, version: version + 1, origin, erased_utc: at };
      await trx
        .insertInto('erasures')
        .values({ ...erasure, due_utc: at })
        .execute();
      await eraseSlice(trx, erasure);
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

interface ToErase {
  readonly company_id: number;
  readonly client_id: number;
  readonly condition: Condition | undefined;
}

/** @throws Problem `not_found`, or of the condition */
const deletePerson = async (trx: Trx<Tables>, { company_id, client_id, condition }: ToErase) => {
  const person = await trx
    .selectFrom('clients')
    .select('version')
    .where('company_id', '=', company_id)
    .where('client_id', '=', client_id)
    .forUpdate()
    .executeTakeFirstOrThrow(() => notFound('person'));
  const refused = brokenCondition(condition, 'client_id', { client_id, ...person });
  if (refused) throw refused;
  for (const table of ['client_search_pending', 'clients'] as const)
    await trx
      .deleteFrom(table)
      .where('company_id', '=', company_id)
      .where('client_id', '=', client_id)
      .execute();
  return person;
};
