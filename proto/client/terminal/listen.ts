import { randomBytes } from 'node:crypto';
import {
  deliveryHeaders,
  type OpenSecret,
  openedSecret,
  signatureHeader,
  standardSignatureHeader,
} from '../../signatures.ts';
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
    const opened = openedSecret(secret);
    let at = cursor ?? 'latest';
    const query = { order: 'asc', include: 'meta', wait: 25, type: types } as const;
    // A page with `latest` is empty, and its cursor is the place to begin.
    if (at === 'latest')
      at = (await causeway.events.list({ ...query, wait: 0, cursor: at }, { signal })).nextCursor!;
    out(`Forwarding events to ${url}\nSigning secret: ${secret}\n`);
    try {
      const pages = causeway.events.list({ ...query, cursor: at }, { signal, maxRetries: Infinity }).pages();
      for await (const { entries = [], nextCursor } of pages) {
        for (const entry of entries) await deliver(url, entry, opened, terminal);
        at = nextCursor!;
      }
    } finally {
      out(`To go on from here: --cursor ${at}\n`);
    }
  },
};

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

const deliver = async (
  url: URL,
  entry: Entry,
  secret: OpenSecret,
  { out, signal }: Terminal,
): Promise<void> => {
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
  secret: OpenSecret,
  attempt: number,
  signal: AbortSignal,
): Promise<number | undefined> => {
  const body = Buffer.from(JSON.stringify(entry.event));
  const headers = signedHeaders(entry, secret, attempt, body);
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

/** The subscription is 0: there is none. */
const signedHeaders = (
  { event, sequence, origin }: Entry,
  secret: OpenSecret,
  attempt: number,
  body: Uint8Array,
): Record<string, string> => {
  const timestamp = Math.floor(Date.now() / 1000);
  const delivered = {
    event_id: event.id,
    event_type: event.type,
    attempt,
    subscription_id: 0,
    sequence,
    origin,
    replay_id: 0,
  };
  const headers = deliveryHeaders(delivered, timestamp, [
    signatureHeader([secret], timestamp, body),
    standardSignatureHeader([secret], event.id, timestamp, body),
  ]);
  return Object.fromEntries(headers);
};
