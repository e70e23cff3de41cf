import { writeNotices } from '@causeway/identity';
import { acrossTenants, repeat } from '@causeway/runtime';
import type { NoticesContext } from './context.ts';
import { noteNearLimits } from './limits.ts';
import { companiesAtOnce, planNotices } from './plan.ts';
import { startSender } from './send.ts';

/** Several replicas may run it at once: rows decide who does what. */
export const startNotices = (context: NoticesContext): { stop(): Promise<void> } => {
  const { log, mail } = context;
  const mails = startSender(context, ['mail'], mailSlots);
  const posts = startSender(context, ['webhook', 'slack'], postSlots);
  const onError = (error: unknown): void => log.warn({ error }, 'planning notices failed');
  const plan = repeat(
    async () => {
      const companies = await planNotices(context);
      if (companies > 0) for (const sender of [mails, posts]) sender.wake();
      return companies < companiesAtOnce ? 0 : companies;
    },
    { pauseMs: planEveryMs, onError },
  );
  const watch = repeat(
    async () => {
      await noteNearLimits(context);
      await noteExpiringKeys(context);
      return 0;
    },
    { pauseMs: watchEveryMs, onError },
  );
  return {
    stop: async () => {
      await Promise.all([plan.stop(), watch.stop(), mails.stop(), posts.stop()]);
      mail?.close();
    },
  };
};

const planEveryMs = 2000;
const watchEveryMs = 60_000;
const mailSlots = 16;
/** A dispatcher makes 32 posts that members wait for at a time; notices of a few replicas leave room for these. */
const postSlots = 8;

const dayMs = 86_400_000;
const daysBefore = [1, 7] as const;

/** Told seven days before and one day before, unless the key was created for no longer than that. */
const noteExpiringKeys = async ({ db, now }: NoticesContext): Promise<void> => {
  const at = now();
  const rows = await acrossTenants(db, 'keys of all companies are about to expire')
    .selectFrom('api_keys')
    .select(['company_id', 'id', 'name', 'created_utc', 'expires_utc'])
    .where('is_active', '=', 1)
    .where('expires_utc', '>', at)
    .where('expires_utc', '<=', new Date(at.getTime() + Math.max(...daysBefore) * dayMs))
    .execute();
  const expiring = rows.flatMap((row) => {
    const expiresMs = row.expires_utc!.getTime();
    const days = daysBefore.find((limit) => expiresMs - at.getTime() <= limit * dayMs);
    return days && expiresMs - row.created_utc.getTime() > days * dayMs ? [{ ...row, days, expiresMs }] : [];
  });
  await writeNotices(
    db,
    expiring.map(({ company_id: companyId, id, name, days, expiresMs }) => {
      const until = new Date(expiresMs).toISOString();
      return {
        companyId,
        kind: 'key_expiring',
        cause: `key_expiring:${id}:${until}:${days}`,
        subject: { id, name },
        detail: { until: until.slice(0, 16).replace('T', ' ') },
        at,
      };
    }),
  );
};
