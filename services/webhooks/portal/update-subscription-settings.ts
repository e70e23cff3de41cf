import { byMember, contract } from '@causeway/proto';
import { handler, json, type Trx } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import type { Tables } from '../tables.ts';
import { verifiesEndpoints } from '../verification/verifies-endpoints.ts';
import { writeAudit } from '../write-audit.ts';

/**
 * Turns endpoint verification on or off. Once on, it applies to new subscriptions and to URL changes. Once off, no
 * subscription needs it, and those that were waiting for it stay disabled.
 */
export const updateSubscriptionSettings = ({ once, now }: WebhooksContext) =>
  handler(contract.updateSubscriptionSettings, async (call) => {
    const { companyId, body, identity } = call;
    const { verifyEndpoints } = body;
    return once.carryOut(identity, async (trx) => {
      const answer = json(200, { verifyEndpoints });
      if ((await verifiesEndpoints(trx, companyId)) === verifyEndpoints) return answer;
      const verify_endpoints = verifyEndpoints ? 1 : 0;
      await trx
        .insertInto('webhook_companies')
        .values({ company_id: companyId, subscriptions_created: 0, verify_endpoints })
        .onDuplicateKeyUpdate({ verify_endpoints })
        .execute();
      if (!verifyEndpoints) await endVerification(trx, companyId);
      await writeAudit(trx, {
        companyId,
        by: byMember(call),
        action: verifyEndpoints ? 'endpoint_verification.enabled' : 'endpoint_verification.disabled',
        target: { kind: 'company', id: companyId, name: 'endpoint verification' },
        at: now(),
      });
      return answer;
    });
  });

/** Clears the verification state of all subscriptions, and stores why the pending ones are disabled. */
const endVerification = async (trx: Trx<Tables>, companyId: number): Promise<void> => {
  const ended = { verification: null, challenged_utc: null, challenge_failure: null };
  const ofCompany = trx.updateTable('subscriptions').where('company_id', '=', companyId);
  await ofCompany
    .set({
      ...ended,
      disabled_reason: 'endpoint verification was turned off before the receiver was verified',
    })
    .where('verification', '=', 'pending')
    .execute();
  await ofCompany.set(ended).where('verification', '=', 'required').execute();
};
