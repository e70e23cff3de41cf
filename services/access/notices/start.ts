import { repeat } from '@causeway/runtime';
import type { NoticesContext } from './context.ts';
import { noteExpiringKeys } from './expiring.ts';
import { noteNearLimits } from './limits.ts';
import { planNotices } from './plan.ts';
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
      mails.wake();
      posts.wake();
      return companies;
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

const planEveryMs = 1000;
const watchEveryMs = 60_000;
const mailSlots = 16;
/** A dispatcher makes 32 posts that members wait for at a time; notices of a few replicas leave room for these. */
const postSlots = 8;
