import { enablingDeadlineMs, type SubscriptionRow } from '@causeway/proto';
import type { Editor } from '../subscriptions/editor.ts';
import { type VerificationContext, verifyEndpoint } from './verify-endpoint.ts';

/** Challenges sent in the background, after a create or a change of the URL. */
export interface Challenges {
  /** Sends a challenge. If this process dies first, enabling the subscription sends another one. */
  send(editor: Editor, subscription: Pick<SubscriptionRow, 'company_id' | 'subscription_id'>): void;
  /** Resolves when the results of all challenges are stored. */
  drain(): Promise<void>;
}

export const startChallenges = (context: VerificationContext): Challenges => {
  const underWay = new Set<Promise<void>>();
  const verify: (...of: Parameters<Challenges['send']>) => Promise<void> = async (editor, subscription) => {
    const { company_id: companyId, subscription_id: subscriptionId } = subscription;
    try {
      const pending = { ...subscription, verification: 'pending' } as const;
      const deadlineMs = performance.now() + enablingDeadlineMs;
      const failure = await verifyEndpoint(context, editor, pending, deadlineMs);
      context.log.info({ companyId, subscriptionId, failure }, 'challenge answered');
    } catch (error) {
      context.log.warn({ companyId, subscriptionId, error }, 'challenge not sent');
    }
  };
  return {
    send: (editor, subscription) => {
      const sent = verify(editor, subscription).finally(() => underWay.delete(sent));
      underWay.add(sent);
    },
    drain: async () => {
      await Promise.all(underWay);
    },
  };
};
