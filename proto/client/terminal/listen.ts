import { createHmac, randomBytes } from 'node:crypto';
import { pause } from '../calls.ts';
import type { WebhookEvent } from '../index.ts';
import { type DeveloperCommand, type Terminal, webUrl } from './command.ts';

interface Entry {
  readonly event: WebhookEvent;
  readonly sequence: number;
  readonly origin: string | null;
}

export const listen: DeveloperCommand = {
  about: 'Forward the events of the company to a receiver on this machine, signed, as they happen',
  usage: '--forward URL [--types A,B] [--cursor CURSOR] [--secret SECRET]',
  options: {
    forward: ['URL', 'where each event is posted; path and query stay as they are'],
    types: ['A,B', 'only events of these types'],
    cursor: ['CURSOR', 'first forward what came after it; a stopped command prints one'],
    secret: ['SECRET', 'to sign with; by default a new one is made and printed'],
  },
  notes: [
    'Needs a key with the scope events:read. No subscription is made, and others are not disturbed.',
    'While the receiver does not answer, its event is posted again, and later ones wait. Whatever status it answers',
    'with, the next event follows. Redirects are not followed.',
  ],
  run: async (causeway, { forward, types, cursor, secret = newSecret() }, _, terminal) => {
    const { out, signal } = terminal;
    const url = webUrl('forward', forward ?? '');
    let at = cursor ?? 'latest';
    const query = { order: 'asc', include: 'meta', wait: 25, type: types } as const;
    // A page with `latest` is empty, and its cursor is the place to begin.
    if (at === 'latest')
      at = (await causeway.events.list({ ...query, wait: 0, cursor: at }, { signal })).nextCursor!;
    out(`Forwarding events to ${url}\nSigning secret: ${secret}\n`);
    try {
      const pages = causeway.events.list({ ...query, cursor: at }, { signal, maxRetries: Infinity }).pages();
      for await (const { entries = [], nextCursor } of pages) {
        for (const entry of entries) await deliver(url, entry, secret, terminal);
        at = nextCursor!;
      }
    } finally {
      out(`To go on from here: --cursor ${at}\n`);
    }
  },
};

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

const deliver = async (url: URL, entry: Entry, secret: string, { out, signal }: Terminal): Promise<void> => {
  const { id, type } = entry.event;
  for (let attempt = 1; ; attempt++) {
    const startMs = performance.now();
    const status = await post(url, entry, secret, attempt, signal);
    const elapsed = `${Math.round(performance.now() - startMs)} ms`;
    if (status !== undefined) return out(`${id}  ${type}  ${status}  ${elapsed}\n`);
    signal.throwIfAborted();
    if (attempt === 1) out(`${id}  ${type}  no answer from ${url.origin}; trying again\n`);
    await pause(Math.min(5000, 500 * attempt), signal);
  }
};

/** @returns the status; undefined if there was no answer */
const post = async (
  url: URL,
  entry: Entry,
  secret: string,
  attempt: number,
  signal: AbortSignal,
): Promise<number | undefined> => {
  const body = JSON.stringify(entry.event);
  const headers = signedHeaders(entry, secret, attempt, body, Math.floor(Date.now() / 1000));
  const within = AbortSignal.any([signal, AbortSignal.timeout(deliveryTimeoutMs)]);
  try {
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: within });
    await response.body?.cancel();
    return response.status;
  } catch {
    return undefined;
  }
};

/** As that of a real delivery. */
const deliveryTimeoutMs = 10_000;

/** Contract, "Deliveries". The subscription is 0: there is none. */
export const signedHeaders = (
  { event, sequence, origin }: Entry,
  secret: string,
  attempt: number,
  body: string,
  timestamp: number,
): Record<string, string> => {
  const bytes = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const hex = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  const standard = createHmac('sha256', bytes).update(`${event.id}.${timestamp}.${body}`).digest('base64');
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Causeway-Webhooks/1',
    Accept: '*/*',
    'X-Webhook-Timestamp': `${timestamp}`,
    'X-Webhook-Signature': `sha256=${hex}`,
    'X-Webhook-Id': `${event.id}`,
    'X-Webhook-Event': event.type,
    'X-Webhook-Attempt': `${attempt}`,
    'X-Webhook-Subscription': '0',
    'X-Webhook-Sequence': `${sequence}`,
    ...(origin !== null && { 'X-Webhook-Origin': origin }),
    'webhook-id': `${event.id}`,
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': `v1,${standard}`,
  };
};
