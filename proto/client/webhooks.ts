import type { Delivery } from './interface.generated.ts';

/** What a receiver gets. A type that is newer than this package is not among them: pass over what you do not know. */
export type WebhookDelivery = Delivery & {
  /** Of a test delivery. */
  readonly metadata?: { readonly test: true; readonly status: string | null };
};

export type HeadersLike = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The request did not come from Causeway, or is too old: answer 400, and do nothing. */
export class WebhookInvalid extends Error {
  override readonly name = 'WebhookInvalid';
  readonly reason: 'missing_header' | 'timestamp' | 'signature' | 'not_json';

  constructor(reason: WebhookInvalid['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Verifies a delivery (contract, "Deliveries"). A delivery may come twice: skip an `id` that you have seen.
 * @param rawBody the bytes as received; JSON that was parsed and written again has another signature
 * @param secrets the signing secret as shown, `whsec_…`; while you replace it, both
 * @throws WebhookInvalid
 */
export const verifyWebhook = async (
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: HeadersLike,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now() }: { toleranceSeconds?: number; now?: number } = {},
): Promise<WebhookDelivery> => {
  const timestamp = headerIn(headers, 'X-Webhook-Timestamp');
  const signatures = headerIn(headers, 'X-Webhook-Signature');
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookInvalid('timestamp', 'X-Webhook-Timestamp is too far from the present time');
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : new Uint8Array(rawBody);
  const signed = joined(new TextEncoder().encode(`${timestamp}.`), body);
  if (!(await isSigned(signed, signatures, [secrets].flat())))
    throw new WebhookInvalid('signature', 'no signature is of these secrets');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new WebhookInvalid('not_json', 'the body is not JSON');
  }
};

const isSigned = async (
  signed: Uint8Array<ArrayBuffer>,
  signatures: string,
  secrets: readonly string[],
): Promise<boolean> => {
  const candidates = signatures
    .split(',')
    .slice(0, maxSignatures)
    .flatMap((one) => bytesOf(one.trim()));
  for (const secret of secrets.filter((one) => one !== '')) {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const text = new TextEncoder().encode(secret);
    const key = await crypto.subtle.importKey('raw', text, algorithm, false, ['verify']);
    // In constant time.
    for (const signature of candidates)
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return true;
  }
  return false;
};

/** There are two in an overlap. */
const maxSignatures = 10;

const bytesOf = (signature: string): Uint8Array<ArrayBuffer>[] => {
  const [, hex] = /^sha256=([\da-f]{64})$/.exec(signature) ?? [];
  return hex ? [Uint8Array.from(hex.match(/../g)!, (pair) => Number.parseInt(pair, 16))] : [];
};

const joined = (first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> => {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
};

/** Names are compared without case, as in HTTP. */
const headerIn = (headers: HeadersLike, name: string): string => {
  const wantedName = name.toLowerCase();
  const entries: Iterable<readonly [string, string | readonly string[] | undefined]> =
    headers instanceof Headers ? headers : Object.entries(headers);
  for (const [given, value] of entries)
    if (given.toLowerCase() === wantedName && value !== undefined)
      return typeof value === 'string' ? value : value.join(',');
  throw new WebhookInvalid('missing_header', `${name} is missing`);
};
