import { type AnswerTo, contract, openSecret, sealedWith, sealSecret } from '@causeway/proto';
import { acrossTenants, handler, json } from '@causeway/runtime';
import type { Access } from '../context.ts';

/** Members per call: some tens of milliseconds. */
const batch = 200;

/**
 * Seals second factors with the ring's first key, including those that wait for their first code. It skips factors
 * that this key has sealed already, so the command may be interrupted and repeated.
 */
export const reencryptFactors = (access: Access) =>
  handler(contract.reencryptFactors, async ({ body: { after = 0 } }) => {
    const { db, portal } = access;
    const { keyRing } = portal;
    const rows = await acrossTenants(db, 'an operator reseals the second factors of all companies')
      .selectFrom('portal_users')
      .select(['company_id', 'id', 'totp_secret'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(batch)
      .execute();
    let [checked, resealed, unopened] = [0, 0, 0];
    for (const { company_id, id, totp_secret } of rows) {
      if (totp_secret === null) continue;
      checked++;
      if (sealedWith(totp_secret) === keyRing.sealsWith) continue;
      let secret: string;
      try {
        secret = openSecret(keyRing, company_id, totp_secret);
      } catch {
        unopened++;
        continue;
      }
      resealed++;
      await db
        .updateTable('portal_users')
        .set({ totp_secret: sealSecret(keyRing, company_id, secret) })
        .where('company_id', '=', company_id)
        .where('id', '=', id)
        // Unless the factor was replaced meanwhile.
        .where('totp_secret', '=', totp_secret)
        .execute();
    }
    const next = rows.length < batch ? null : rows.at(-1)!.id;
    return json<AnswerTo<'reencryptFactors'>>(200, {
      key: keyRing.sealsWith,
      checked,
      resealed,
      unopened,
      next,
    });
  });
