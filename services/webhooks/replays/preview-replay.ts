import { contract, fastestReplayPerSecond } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readOutcome } from '../deliveries/outcomes.ts';
import { readSubscription } from '../subscriptions/record.ts';
import { countCandidates } from './count-candidates.ts';
import { selectionOf } from './selection.ts';

export const previewReplay = ({ db, now }: WebhooksContext) =>
  handler(contract.previewReplay, async ({ companyId, body }) => {
    const { event_types } = await readSubscription(db, companyId, body.subscriptionId);
    const at = now();
    const count = await countCandidates(db, selectionOf(companyId, body, event_types, at));
    const dayAgo = new Date(at.getTime() - 86_400_000);
    const { p50Ms } = await readOutcome(db, companyId, body.subscriptionId, dayAgo);
    const perSecond = Math.min(fastestReplayPerSecond, (usualConcurrency * 1000) / (p50Ms ?? usualMs));
    return json(200, { count, estimateSeconds: Math.ceil(count / perSecond) });
  });

/** Assumptions of the estimate: a healthy subscription's concurrency, and an attempt's duration if none was measured. */
const usualConcurrency = 16;
const usualMs = 100;
