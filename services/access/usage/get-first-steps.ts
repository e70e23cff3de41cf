import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { Access } from '../context.ts';

/** The first call, as precisely as calls are counted; if it is older than the counts, the key's last use. */
export const getFirstSteps = ({ db }: Access) =>
  handler(contract.getFirstSteps, async ({ companyId }) => {
    const keys = await db
      .selectFrom('api_keys')
      .select((eb) => [eb.fn.min('created_utc').as('created'), eb.fn.min('last_used_utc').as('used')])
      .where('company_id', '=', companyId)
      .executeTakeFirst();
    const calls = await db
      .selectFrom('request_minutes')
      .select((eb) => eb.fn.min('minute_utc').as('first'))
      .where('company_id', '=', companyId)
      .executeTakeFirst();
    return json(200, {
      keyCreatedUtc: iso(keys?.created),
      firstCallUtc: iso(calls?.first ?? keys?.used),
    });
  });

const iso = (time: Date | null | undefined): string | null => time?.toISOString() ?? null;
