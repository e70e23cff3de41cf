import { contract, Problem, parseBody } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { assertTarget } from '../subscriptions/target.ts';

/** Answers the error that creating a subscription with this URL would give, in the same words. */
export const checkSubscriptionUrl = ({ targets }: WebhooksContext) =>
  handler(contract.checkSubscriptionUrl, async ({ body }) => {
    try {
      parseBody(contract.updatePortalSubscription, Buffer.from(JSON.stringify(body)));
      assertTarget(targets, body.url);
      return json(200, { problem: null });
    } catch (error) {
      if (error instanceof Problem && error.code === 'invalid_request')
        return json(200, { problem: error.publicMessage });
      throw error;
    }
  });
