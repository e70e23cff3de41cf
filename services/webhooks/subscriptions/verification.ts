import { createHash, timingSafeEqual } from 'node:crypto';
import { raiseSubscriptionsVersion, type SubscriptionRow } from '@causeway/deliveries';
import { writeAudit } from '@causeway/identity';
import { byMember, challengeType, contract, enablingDeadlineMs } from '@causeway/proto';
import { createInFlight, handler, json, type Trx, transaction } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import { askDispatcher } from '../ask.ts';
import { auditChange } from '../audit.ts';
import type { Challenges, WebhooksContext } from '../context.ts';
import type { Tables } from '../tables.ts';
import { type Editor, noteChange, switchedOn } from './editor.ts';
import { noteMissedWhileOff } from './missed.ts';
import { findSubscription, readSubscription } from './record.ts';
import { sendNow } from './test-delivery.ts';

export const startChallenges = (context: VerificationContext): Challenges => {
  const inFlight = createInFlight();
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
      inFlight.begin();
      void verify(editor, subscription).finally(inFlight.end);
    },
    drain: inFlight.idle,
  };
};

/**
 * Counts only for the URL that was called, while the subscription still waits as it did: a change wins.
 * @returns why the receiver did not prove itself, as a sentence; null if it did.
 * @throws Problem if no challenge was sent, or the subscription is gone.
 */
export const verifyEndpoint = async (
  context: VerificationContext,
  editor: Editor,
  subscription: Challenged & Pick<SubscriptionRow, 'verification'>,
  deadlineMs: number,
): Promise<string | null> => {
  const { company_id, subscription_id, verification } = subscription;
  const { url, failure } = await sendChallenge(context, subscription, deadlineMs);
  const at = context.now();
  await transaction(context.db, async (trx) => {
    const before = await findSubscription(trx, company_id, subscription_id);
    const { numUpdatedRows } = await trx
      .updateTable('subscriptions')
      .set(failure === null ? verified(at) : { challenged_utc: at, challenge_failure: failure })
      .where('company_id', '=', company_id)
      .where('subscription_id', '=', subscription_id)
      .where('url', '=', url)
      .where('verification', '=', verification)
      .executeTakeFirstOrThrow();
    if (!before || numUpdatedRows === 0n || failure !== null) return;
    await noteChange(trx, subscription, 'enabled', at);
    await noteMissedWhileOff(trx, before, at);
    const record = await readSubscription(trx, company_id, subscription_id);
    await auditChange(trx, editor, 'subscription.verified', record, {
      before: { enabled: false },
      after: { enabled: true },
      at,
    });
    await raiseSubscriptionsVersion(trx, [company_id]);
  });
  if (failure === null)
    void askDispatcher(context, { companyId: company_id, subscriptionId: subscription_id });
  return failure;
};

type Challenged = Pick<SubscriptionRow, 'company_id' | 'subscription_id'>;

interface Challenge {
  readonly url: string;
  /** A sentence; null after an echo. */
  readonly failure: string | null;
}

type VerificationContext = Pick<WebhooksContext, 'bus' | 'db' | 'log' | 'now' | 'random'>;

const verified = (at: Date) => ({
  ...switchedOn,
  verification: null,
  challenged_utc: null,
  challenge_failure: null,
  updated_utc: at,
});

/**
 * The challenge exists only in this call and in the request, so only the receiver learns it.
 * @returns the URL that was called, and why its receiver did not prove itself, as a sentence; null if it did.
 * @throws Problem if no challenge was sent.
 */
const sendChallenge = async (
  context: Parameters<typeof sendNow>[0],
  { company_id, subscription_id }: Challenged,
  deadlineMs: number,
): Promise<Challenge> => {
  const challenge = Buffer.from(context.random(challengeBytes)).toString('base64url');
  const sending: Parameters<typeof sendNow>[1] = {
    companyId: company_id,
    subscriptionId: subscription_id,
    type: challengeType,
    payload: { challenge },
    origin: 'system',
  };
  const { attempt } = await sendNow(context, sending, deadlineMs);
  const { url, status_code, error_class, error, response_body } = attempt;
  if (error_class !== null) return { url, failure: error };
  const body = Buffer.from(response_body ?? '', 'base64').toString();
  const failure = echoes(body, challenge)
    ? null
    : `The receiver answered ${status_code} without the challenge.`;
  return { url, failure };
};

const challengeBytes = 32;

/** A server that mirrors requests does not pass: a request has the challenge one level deeper, in `payload`. */
const echoes = (body: string, challenge: string): boolean => {
  try {
    const { challenge: echo } = JSON.parse(body) as { challenge?: unknown };
    return typeof echo === 'string' && timingSafeEqual(hash(echo), hash(challenge));
  } catch {
    return false;
  }
};

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

export const getSubscriptionSettings = ({ db }: WebhooksContext) =>
  handler(contract.getSubscriptionSettings, async ({ companyId }) =>
    json(200, { verifyEndpoints: await verifiesEndpoints(db, companyId) }),
  );

/** Applies to new subscriptions and URL changes. Once off, subscriptions that waited for it stay disabled. */
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

/** Whether the company requires endpoint verification (contract, "Endpoint verification"). */
export const verifiesEndpoints = async (db: Kysely<Tables>, companyId: number): Promise<boolean> => {
  const company = await db
    .selectFrom('webhook_companies')
    .select('verify_endpoints')
    .where('company_id', '=', companyId)
    .executeTakeFirst();
  return company?.verify_endpoints === 1;
};
