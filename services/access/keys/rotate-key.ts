import { createKeyValue, hashKeyValue, lastFour } from '@causeway/identity';
import { bySystem, conflict, contract } from '@causeway/proto';
import { acrossTenants, handler, json, type Trx, transaction } from '@causeway/runtime';
import { type Author, audit, authorOf } from '../audit.ts';
import type { Access } from '../context.ts';
import { publishKey } from '../key-table/entries.ts';
import type { AccessTables } from '../schema.ts';
import { changeableKey, changeRow } from './change-key.ts';
import { portalKey, type StoredKey } from './key-answers.ts';
import { previousEnd } from './keys.ts';

const hourMs = 3_600_000;
/** Each is needed only if somebody else has changed the key meanwhile. */
const maxTries = 5;

/**
 * A row has room for one earlier secret. It is overwritten only in the version in which every gateway has confirmed its end, so
 * that no kill in between leaves a secret working that no row knows.
 */
export const rotateApiKey = (access: Access) =>
  handler(contract.rotateApiKey, async (call) => {
    const { db, table, keyPrefix: prefix, random, log } = access;
    const { companyId, body } = call;
    const value = createKeyValue({ prefix, companyId, random });
    let settled = 0;
    for (let tries = 1; tries <= maxTries; tries++) {
      const { row, isRotated } = await transaction(db, async (trx) => {
        const author = authorOf(access, call);
        const before = await changeableKey(access, trx, call);
        if (before.previous_hash === null || (!before.previous_active && before.version === settled))
          return { isRotated: true, row: await rotateIn(trx, before, value, body.graceHours, author) };
        if (isInGrace(before, author.at) && body.graceHours > 0) throw graceConflict(before);
        const row = before.previous_active ? await endPrevious(trx, before, author) : before;
        return { isRotated: false, row };
      });
      try {
        await publishKey(table, row);
      } catch (error) {
        // The answer, and with it the new secret, is lost. Without a grace, another rotation helps.
        if (isRotated && row.previous_active)
          await transaction(db, (trx) =>
            keepOld(trx, row, { companyId, by: bySystem, at: access.now() }),
          ).catch((cause: unknown) =>
            log.error({ error: cause, keyId: row.id }, 'undoing a rotation failed'),
          );
        throw error;
      }
      if (isRotated) return json(200, { ...portalKey(row), value });
      settled = row.version;
    }
    throw conflict('the key is being changed by somebody else; try again');
  });

/** Publishes also if there is nothing to end: who repeats a call that was not answered gets its guarantee. */
export const endKeyRotation = (access: Access) =>
  handler(contract.endKeyRotation, async (call) => {
    const { keep } = call.body;
    const { row, isOver } = await transaction(access.db, async (trx) => {
      const author = authorOf(access, call);
      const before = await changeableKey(access, trx, call);
      const isOver = !isInGrace(before, author.at);
      if (!before.previous_active || (isOver && keep === 'old')) return { row: before, isOver };
      const end = keep === 'new' ? endPrevious : keepOld;
      return { row: await end(trx, before, author), isOver };
    });
    await publishKey(access.table, row);
    if (isOver && keep === 'old') throw conflict('the old secret has ended already');
    return json(200, portalKey(row));
  });

/** Gateways refuse an earlier secret by themselves when its grace is over. */
export const endGraces = async (access: Access): Promise<number> => {
  const { db, table } = access;
  const due = await acrossTenants(db, 'graces of rotated keys of all companies end')
    .selectFrom('api_keys')
    .select(['company_id', 'id'])
    .where('previous_active', '=', 1)
    .where('previous_until_utc', '<=', access.now())
    .limit(100)
    .execute();
  for (const { company_id: companyId, id } of due) {
    const row = await transaction(db, async (trx) => {
      const at = access.now();
      const before = await changeRow(trx, { company_id: companyId, id }, {});
      return isInGrace(before, at) || !before.previous_active
        ? before
        : endPrevious(trx, before, { companyId, by: bySystem, at });
    });
    await publishKey(table, row);
  }
  return due.length;
};

const isInGrace = ({ previous_active, previous_until_utc }: StoredKey, now: Date): boolean =>
  previous_active === 1 && previous_until_utc !== null && previous_until_utc > now;

const graceConflict = ({ previous_until_utc }: StoredKey) =>
  conflict(
    `the key was rotated already, and its old secret works until ${previous_until_utc!.toISOString()}; end that first, or rotate without a grace, which ends both`,
  );

const rotateIn = async (
  trx: Trx<AccessTables>,
  before: StoredKey,
  value: string,
  graceHours: number,
  author: Author,
): Promise<StoredKey> => {
  const until = new Date(author.at.getTime() + graceHours * hourMs);
  await audit(trx, author, 'key.rotated', ['key', before.id, before.name], {
    after: { graceHours, ...(graceHours > 0 && { previousUntilUtc: until.toISOString() }) },
  });
  return changeRow(trx, before, {
    key_hash: Buffer.from(hashKeyValue(value), 'base64url'),
    last4: lastFour(value),
    previous_hash: before.key_hash,
    previous_last4: before.last4,
    previous_until_utc: until,
    previous_active: graceHours > 0 ? 1 : 0,
  });
};

const endPrevious = async (trx: Trx<AccessTables>, before: StoredKey, author: Author): Promise<StoredKey> => {
  await auditEnd(trx, before, author, 'new');
  return changeRow(trx, before, previousEnd(author.at));
};

const keepOld = async (trx: Trx<AccessTables>, before: StoredKey, author: Author): Promise<StoredKey> => {
  await auditEnd(trx, before, author, 'old');
  return changeRow(trx, before, {
    key_hash: before.previous_hash!,
    last4: before.previous_last4!,
    previous_hash: before.key_hash,
    previous_last4: before.last4,
    previous_until_utc: author.at,
    previous_active: 0,
  });
};

const auditEnd = (trx: Trx<AccessTables>, { id, name }: StoredKey, author: Author, kept: 'new' | 'old') =>
  audit(trx, author, 'key.rotation_ended', ['key', id, name], { after: { kept } });
