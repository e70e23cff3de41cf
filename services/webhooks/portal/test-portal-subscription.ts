import { type AnswerTo, byMember, contract, type HeaderPair } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readSubscription } from '../subscriptions/record.ts';
import type { TestAttempt } from '../subscriptions/send-now.ts';
import { sendTest } from '../subscriptions/test-subscription.ts';
import { writeAudit } from '../write-audit.ts';

export const testPortalSubscription = (context: WebhooksContext) =>
  handler(contract.testPortalSubscription, async (call) => {
    const { companyId, body, deadlineMs } = call;
    const { db, now } = context;
    const record = await readSubscription(db, companyId, call.id('subscription'));
    const { attempt, sent } = await sendTest(context, companyId, record.subscription_id, body, deadlineMs);
    const answer = attemptAnswer(attempt, sent);
    await writeAudit(db, {
      companyId,
      by: byMember(call),
      action: 'subscription.tested',
      target: { kind: 'subscription', id: record.subscription_id, name: record.name ?? record.url },
      after: { success: answer.success, statusCode: answer.statusCode, eventType: body.eventType ?? null },
      at: now(),
    });
    return json(200, answer);
  });

const attemptAnswer = (attempt: TestAttempt, sent: string): AnswerTo<'testPortalSubscription'> => ({
  success: attempt.error_class === null,
  statusCode: attempt.status_code,
  elapsedMs: attempt.elapsed_ms,
  timings: {
    dnsMs: attempt.dns_ms,
    connectMs: attempt.connect_ms,
    tlsMs: attempt.tls_ms,
    firstByteMs: attempt.first_byte_ms,
  },
  address: attempt.address,
  errorClass: attempt.error_class,
  error: attempt.error,
  request: {
    url: attempt.url,
    headers: pairs(attempt.request_headers),
    body: sent,
    timestamp: header(attempt.request_headers, 'x-webhook-timestamp'),
    signature: header(attempt.request_headers, 'x-webhook-signature'),
  },
  response: attempt.response_headers && {
    headers: pairs(attempt.response_headers),
    ...bodyOf(attempt.response_body),
    truncated: attempt.response_truncated === 1,
  },
});

const pairs = (headers: readonly HeaderPair[]): [string, string][] =>
  headers.map(([name, value]) => [name, value]);

const header = (headers: readonly HeaderPair[], wanted: string): string =>
  headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? '';

/** Text where it is text, which may have been cut within a character; otherwise base64. */
const bodyOf = (base64: string | null): { body: string; bodyBase64: boolean } => {
  const bytes = Buffer.from(base64 ?? '', 'base64');
  try {
    const body = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
    return { body, bodyBase64: false };
  } catch {
    return { body: bytes.toString('base64'), bodyBase64: true };
  }
};
