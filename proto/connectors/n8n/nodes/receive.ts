import { type HeadersLike, verifyWebhook, type WebhookDelivery } from '../../../client/webhooks.ts';

/** What a workflow keeps between its runs: n8n stores it with the workflow. */
export interface Kept {
  subscriptionId?: number;
  signingSecret?: string;
}

/** Four times the largest event. */
const maxDeliveryBytes = 1024 * 1024;

interface Received {
  readonly status: number;
  readonly answer: unknown;
  /** What starts the workflow; absent for what is refused, and for a challenge. */
  readonly event?: WebhookDelivery;
}

/** Judges a delivery. */
export const receive = async (
  rawBody: Uint8Array | undefined,
  headers: HeadersLike,
  { signingSecret }: Kept,
): Promise<Received> => {
  if (!rawBody || rawBody.length > maxDeliveryBytes) return { status: 413, answer: { error: 'too large' } };
  if (!signingSecret) return { status: 401, answer: { error: 'the workflow is not subscribed' } };
  try {
    const event = await verifyWebhook(rawBody, headers, signingSecret);
    if ((event.type as string) !== 'endpoint.verification') return { status: 200, answer: {}, event };
    const { challenge } = event.payload as { challenge?: unknown };
    return { status: 200, answer: { challenge } };
  } catch (error) {
    return { status: 401, answer: { error: (error as Error).message } };
  }
};

/** A repetition comes within hours, among far fewer events. */
const maxSeen = 500;

/**
 * The IDs of the events that have started each workflow, the newest last. They are in memory: n8n stores what a webhook
 * keeps only if no execution follows.
 */
const seenBy = new Map<string, readonly number[]>();

export const isRepeated = (workflow: string, { id, metadata }: WebhookDelivery): boolean =>
  // A test delivery is of no event that happened, and may be sent again.
  metadata?.test !== true && (seenBy.get(workflow)?.includes(id) ?? false);

/** To be called when n8n has taken the event: one that it could not take is delivered again, and must not be skipped. */
export const remember = (workflow: string, { id }: WebhookDelivery): void => {
  seenBy.set(workflow, [...(seenBy.get(workflow) ?? []), id].slice(-maxSeen));
};
