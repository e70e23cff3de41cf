import { type Scope, scopes } from '@causeway/proto';
import { addEmployee } from '../api/support/people.ts';
import type { Ask, World } from '../api/support/world.ts';
import type { Dice } from './dice.ts';
import type { Standing } from './judge.ts';
import type { MadeRequest } from './requests.ts';

const unlimited = 1_000_000_000;

/** A company with somebody to name, and keys: for all, for one scope each, and one that is revoked. */
export interface Tenant {
  readonly id: number;
  /** A made request, with the headers that its standing asks for. */
  ask(made: MadeRequest, standing: Standing, dice: Dice): Ask;
}

export const openTenant = async (world: World): Promise<Tenant> => {
  const company = await world.company({ read: unlimited, write: unlimited, admin: unlimited });
  for (const role_id of [2, 2, 6]) {
    const person = { company_id: company.id, first_name: 'Ada', last_name: 'B', role_id, is_approved: true };
    await addEmployee(world, person);
  }
  const key = (await company.key()).value;
  const ofOne = new Map<Scope, string>();
  for (const scope of scopes) ofOne.set(scope, (await company.key([scope])).value);
  const revoked = await company.key();
  await world.operator.ask('revokeKey', { id: revoked.id });
  const nobodys = [undefined, '', 'x', revoked.value, key.slice(0, -1), `${key}x`, key.toUpperCase()].concat(
    ...[key.replace('crm', 'CRM'), `Bearer ${key}`, key.replace(/_\d+_/, '_1_'), 'é'],
  );
  return {
    id: company.id,
    ask: ({ endpoint, method, headers, body }, standing, dice) => {
      const other = scopes.find((scope) => scope !== endpoint.scope)!;
      const keys = { known: key, unknown: dice.pick(nobodys), unscoped: ofOne.get(other) };
      return { method, key: keys[standing], headers, ...(body !== undefined && { body }) };
    },
  };
};
