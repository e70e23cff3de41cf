import { assertSameName, createKeyValue, hashKeyValue, lastFour } from '@causeway/identity';
import {
  type AnswerTo,
  type AuditSource,
  byMember,
  byOperator,
  bySystem,
  contract,
  notFound,
  problem,
  quotaExceeded,
  type Scope,
} from '@causeway/proto';
import {
  type Answer,
  acrossTenants,
  type CallIdentity,
  faultAs,
  handler,
  json,
  type Trx,
  transaction,
} from '@causeway/runtime';
import { sql } from 'kysely';
import { audit } from '../audit.ts';
import { requireCompany } from '../companies.ts';
import type { Access } from '../context.ts';
import { limitColumns, publishKey } from '../key-table/entries.ts';
import { selectCompany, selectKey, updateKey } from '../rows.ts';
import type { AccessTables } from '../schema.ts';
import { requireRoleStill } from '../sessions/person.ts';
import { expiryOf } from './expiry.ts';
import { keyAnswer, keyColumns, portalKey, readKey, type StoredKey } from './key-answers.ts';

export const createKey = (access: Access) =>
  handler(contract.createKey, async ({ body, requestId }) => {
    const { company_id, name, scopes } = body;
    await requireCompany(access, company_id);
    const by = byOperator(requestId);
    return makeKey(access, {
      ...{ companyId: company_id, name, scopes, by },
      answer: (row, value) => json<AnswerTo<'createKey'>>(201, { ...keyAnswer(row), value }),
    });
  });

export const createApiKey = (access: Access) =>
  handler(contract.createApiKey, async (call) => {
    const { companyId, body, identity } = call;
    return makeKey(access, {
      companyId,
      identity,
      ...body,
      expires: expiryOf(body, access.now()),
      by: byMember(call),
      basedOn: body.basedOn,
      check: (trx) => requireRoleStill(trx, companyId, call.user.id, 'developer'),
      answer: (row, value) => json(201, { ...portalKey(row), value }),
    });
  });

export const listKeys = (access: Access) =>
  handler(contract.listKeys, async ({ body }) => {
    const { company_id } = body;
    if (company_id !== undefined) await requireCompany(access, company_id);
    const db =
      company_id === undefined
        ? acrossTenants(access.db, 'an operator lists the keys of all companies')
        : access.db;
    const rows = await db
      .selectFrom('api_keys')
      .select(keyColumns)
      .$if(company_id !== undefined, (query) => query.where('company_id', '=', company_id!))
      .orderBy('id')
      .execute();
    return json<AnswerTo<'listKeys'>>(200, { keys: rows.map(keyAnswer) });
  });

export const listApiKeys = ({ db, cursors }: Access) =>
  handler(contract.listApiKeys, async ({ companyId, query }) => {
    const { limit, cursor, state, ids, q = '', sort } = query;
    const byUse = sort !== 'newest';
    const list = byUse ? 'keys by use' : 'keys';
    const [first, second] = await cursors.open(companyId, list, cursor);
    const direction = sort === 'unused' ? 'asc' : 'desc';
    let found = db
      .selectFrom('api_keys')
      .select([...keyColumns, ...limitColumns])
      .where('company_id', '=', companyId);
    if (state) found = found.where('is_active', '=', state === 'active' ? 1 : 0);
    if (ids) found = found.where('id', 'in', ids);
    if (q !== '') {
      // The column is ASCII: MySQL would refuse to compare it with other characters.
      const lastFour = /[!-~]{4}$/.exec(q)?.[0] ?? '';
      found = found.where(sql<boolean>`(LOCATE(${q}, name) > 0 OR last4 = ${lastFour})`);
    }
    if (byUse) {
      found = found.orderBy(usedSeconds, direction);
      if (second !== undefined)
        found = found.where(
          sql<boolean>`(${usedSeconds}, id) ${sql.raw(direction === 'asc' ? '>' : '<')} (${first}, ${second})`,
        );
    } else if (first !== undefined) found = found.where('id', '<', first);
    const rows = await found
      .orderBy('id', direction)
      .limit(limit + 1)
      .execute();
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    const place = last && (byUse ? [secondsOf(last.last_used_utc), last.id] : [last.id]);
    return json(200, { keys: page.map(portalKey), ...(await cursors.pageEnd(companyId, list, place)) });
  });

/** 0: never. */
const usedSeconds = sql<number>`COALESCE(TIMESTAMPDIFF(SECOND, '1970-01-01', last_used_utc), 0)`;
const secondsOf = (time: Date | null): number => Math.floor((time?.getTime() ?? 0) / 1000);

export const revokeKey = (access: Access) =>
  handler(contract.revokeKey, async ({ body, requestId }) => {
    const { id } = body;
    const companyId = await companyOfKey(access, id);
    return json<AnswerTo<'revokeKey'>>(
      200,
      keyAnswer(await revokeEverywhere(access, { companyId, id, by: byOperator(requestId) })),
    );
  });

export const revokeApiKey = (access: Access) =>
  handler(contract.revokeApiKey, async (call) => {
    const { companyId } = call;
    await revokeEverywhere(access, { companyId, id: call.id('key'), by: byMember(call) });
    return { status: 204, body: null };
  });

interface NewKey {
  readonly companyId: number;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly note?: string | null | undefined;
  readonly expires?: Date | null;
  readonly networks?: readonly string[] | undefined;
  readonly by: AuditSource;
  readonly basedOn?: { readonly sameName: number } | undefined;
  readonly identity?: CallIdentity | undefined;
  readonly check?: (trx: Trx<AccessTables>) => Promise<void>;
  readonly answer: (row: StoredKey, value: string) => Answer;
}

/** Returns once every gateway accepts the key, which is then shown. @throws Problem `quota_exceeded`, `key_creation_failed` */
const makeKey = (access: Access, key: NewKey): Promise<Answer> =>
  insertKey(access, key).catch((error: unknown) => {
    throw faultAs('key_creation_failed', error);
  });

const insertKey = async (
  access: Access,
  { companyId, name, scopes, note, expires, networks = [], by, basedOn, identity, check, answer }: NewKey,
): Promise<Answer> => {
  const { db, once, table, keyPrefix, keyQuota, random, now, log } = access;
  const value = createKeyValue({ prefix: keyPrefix, companyId, random });
  const at = now();
  const key = {
    company_id: companyId,
    name,
    key_hash: Buffer.from(hashKeyValue(value), 'base64url'),
    prefix: keyPrefix,
    last4: lastFour(value),
    scopes: scopes.join(' '),
    created_utc: at,
    note: note ?? null,
    expires_utc: expires ?? null,
    networks: networks.join(' ') || null,
  };
  const answered = await once.carryOut(identity, async (trx) => {
    await check?.(trx);
    const names = await requireRoomForKey(trx, companyId, keyQuota);
    assertSameName('key', names, name, basedOn);
    const { insertId } = await trx.insertInto('api_keys').values(key).executeTakeFirstOrThrow();
    const id = Number(insertId);
    await audit(trx, { companyId, by, at }, 'key.created', ['key', id, name], {
      after: {
        ...{ name, scopes },
        ...(expires && { expiresUtc: expires.toISOString() }),
        ...(networks.length > 0 && { networks }),
      },
    });
    return answer(await readKey(trx, companyId, id), value);
  });
  const { id } = JSON.parse(String(answered.body)) as { readonly id: number };
  try {
    // Of a repetition too: the first call may have ended before every gateway knew the key.
    await publishKey(table, await readKey(db, companyId, id));
  } catch (error) {
    // The answer, and with it the key's value, is lost: revoke the key, so that no unknown key stays active.
    await transaction(db, async (trx) => {
      await deactivateIn(trx, { companyId, id, by: bySystem, at: now() });
      await once.forget(trx, identity);
    }).catch((cause: unknown) => log.error({ error: cause, keyId: id }, 'revoking an unused key failed'));
    throw error;
  }
  return answered;
};

/**
 * Locks the company, so creates take turns (contract, "Quotas"). @returns the names of its active keys.
 * @throws Problem `quota_exceeded`, `company_closed`
 */
const requireRoomForKey = async (
  trx: Trx<AccessTables>,
  companyId: number,
  limit: number,
): Promise<readonly string[]> => {
  const company = await selectCompany(trx, companyId).select('closed_utc').forUpdate().executeTakeFirst();
  if (company?.closed_utc) throw problem('company_closed');
  const active = await trx
    .selectFrom('api_keys')
    .select('name')
    .where('company_id', '=', companyId)
    .where('is_active', '=', 1)
    .execute();
  if (active.length >= limit)
    throw quotaExceeded(
      'keys',
      limit,
      `a company may have ${limit} active keys; revoke one that is not needed`,
    );
  return active.map(({ name }) => name);
};

/**
 * Revokes a key; when this returns, no gateway accepts it any more (contract, "Identifiers, keys, scopes"). Revoking
 * it again changes nothing and gives the same guarantee. @throws Problem `not_found`
 */
export const revokeEverywhere = async (access: Access, end: KeyEnd) => {
  const { db, table, now } = access;
  await transaction(db, (trx) => deactivateIn(trx, { ...end, at: now() }));
  const row = await readKey(db, end.companyId, end.id);
  await publishKey(table, row);
  return row;
};

interface KeyEnd {
  readonly companyId: number;
  readonly id: number;
  readonly by: AuditSource;
}

/** A key that is revoked already keeps its time and version. */
export const deactivateIn = async (
  trx: Trx<AccessTables>,
  { companyId, id, by, at }: KeyEnd & { readonly at: Date },
): Promise<void> => {
  const { numUpdatedRows } = await updateKey(trx, companyId, id)
    .set((eb) => ({
      is_active: 0,
      is_suspended: 0,
      revoked_utc: at,
      version: eb('version', '+', 1),
      ...previousEnd(at),
    }))
    .where((eb) => eb.or([eb('is_active', '=', 1), eb('is_suspended', '=', 1)]))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return;
  // `webhooks` switches off the subscriptions of the key.
  await trx
    .insertInto('key_revocations')
    .values({ company_id: companyId, key_id: id, revoked_utc: at })
    .execute();
  const { name, expires_utc } = await selectKey(trx, companyId, id)
    .select(['name', 'expires_utc'])
    .executeTakeFirstOrThrow();
  const change = expires_utc && expires_utc <= at ? { after: { reason: 'expired' } } : undefined;
  await audit(trx, { companyId, by, at }, 'key.revoked', ['key', id, name], change);
};

/** Of an update: MySQL assigns in this order. */
export const previousEnd = (at: Date) => ({
  previous_until_utc: sql<Date>`IF(previous_active, LEAST(previous_until_utc, ${at}), previous_until_utc)`,
  previous_active: 0,
});

/** @throws Problem `not_found` */
export const companyOfKey = async ({ db }: Access, id: number): Promise<number> => {
  const key = await acrossTenants(db, 'an operator names a key by its id alone')
    .selectFrom('api_keys')
    .select('company_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow(() => notFound('key'));
  return key.company_id;
};
