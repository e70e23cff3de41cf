interface Given {
  readonly secret: string;
  readonly headers: string;
  readonly body: string;
  readonly now: number;
}

interface Finding {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly title: string;
  readonly advice?: string;
}

export const diagnose = async (given: Given): Promise<readonly Finding[]> => {
  const headers = parseHeaders(given.headers);
  const timestamp = headers.get('x-webhook-timestamp') ?? headers.get('webhook-timestamp');
  const signature = headers.get('x-webhook-signature');
  const standard = headers.get('webhook-signature');
  const findings: Finding[] = [...aboutSecret(given.secret)];
  if (timestamp === undefined)
    return [
      ...findings,
      bad('X-Webhook-Timestamp is missing', 'Paste all headers of the delivery, one per line.'),
    ];
  if (!/^\d+$/.test(timestamp))
    return [
      ...findings,
      bad('X-Webhook-Timestamp is not a number', 'It must be the sending time in seconds since 1970.'),
    ];
  findings.push(...aboutAge(Number(timestamp), given.now));
  if (signature === undefined && standard === undefined)
    return [
      ...findings,
      bad('The signature is missing', 'Paste the X-Webhook-Signature or webhook-signature header.'),
    ];
  if (signature !== undefined) findings.push(...(await aboutHex(given, timestamp, signature)));
  if (standard !== undefined)
    findings.push(...(await aboutStandard(given, timestamp, standard, headers.get('webhook-id'))));
  return findings;
};

const bad = (title: string, advice: string): Finding => ({ tone: 'bad', title, advice });

const parseHeaders = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split(/\r?\n/).flatMap((line) => {
      const at = line.indexOf(':');
      return at < 1 ? [] : [[line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()] as const];
    }),
  );

const aboutSecret = (secret: string): Finding[] => {
  if (secret !== secret.trim())
    return [
      bad(
        'The secret has spaces or a line break around it',
        'Remove them. This often happens in environment files.',
      ),
    ];
  if (!secret.startsWith('whsec_'))
    return [bad('The secret does not begin with whsec_', 'Use the whole text, including whsec_.')];
  return [];
};

const toleranceSeconds = 300;

const aboutAge = (timestamp: number, now: number): Finding[] => {
  const age = Math.round(now / 1000 - timestamp);
  const seconds = Math.abs(age);
  if (seconds <= toleranceSeconds) return [];
  return [
    {
      tone: 'warn',
      title:
        age > 0
          ? `The timestamp is ${seconds} seconds old`
          : `The timestamp is ${seconds} seconds in the future`,
      advice:
        'This is fine for an older delivery. If your receiver sees it when a delivery arrives, its clock is wrong.',
    },
  ];
};

const aboutHex = async (given: Given, timestamp: string, signature: string): Promise<Finding[]> => {
  const signatures = signature.split(',').map((one) => one.trim());
  const matches = async (secret: string, text: string): Promise<boolean> => {
    const expected = toHex(await hmacSha256(secret, text));
    return signatures.some((one) => one.toLowerCase().replace(/^sha256=/, '') === expected);
  };
  const { secret, body } = given;
  if (await matches(secret, `${timestamp}.${body}`))
    return [{ tone: 'good', title: 'X-Webhook-Signature is valid' }];
  if (!signatures.every((one) => /^sha256=[0-9a-f]{64}$/.test(one)))
    return [
      bad(
        'X-Webhook-Signature does not have the form sha256=<64 hexadecimal digits>',
        'It was truncated or changed in transit.',
      ),
    ];
  for (const [text, title, advice] of bodiesToTry(body)) {
    if (await matches(secret, `${timestamp}.${text}`)) return [bad(title, advice)];
  }
  if (await matches(secret.trim(), `${timestamp}.${body}`))
    return [bad('The signature matches without the spaces around the secret', 'Remove them.')];
  if (await matches(`whsec_${secret}`, `${timestamp}.${body}`))
    return [
      bad('The signature matches with whsec_ before the secret', 'Use the whole text, including whsec_.'),
    ];
  return [
    bad(
      'X-Webhook-Signature does not match',
      'Either the secret belongs to another subscription or was rotated, or the body differs from what was sent. Every byte counts.',
    ),
  ];
};

/** Variants of the body that something on the way may have changed; one of them may match the signature. */
const bodiesToTry = (body: string): readonly (readonly [text: string, title: string, advice: string])[] => {
  const raw = 'Verify the raw bytes of the request, before any parsing.';
  const tries: [string, string, string][] = [
    [body.replace(/\r?\n$/, ''), 'The body has an extra line break at its end', raw],
    [body.trim(), 'The body has spaces around it that were not sent', raw],
    [body.replaceAll('\r\n', '\n'), 'The line breaks in the body were changed', raw],
  ];
  try {
    const compact = JSON.stringify(JSON.parse(body));
    tries.push([
      compact,
      'The body was parsed and serialized again',
      `The signature matches without the added spaces. ${raw}`,
    ]);
  } catch {
    // A body that is not JSON cannot have been serialized again.
  }
  return tries.filter(([text]) => text !== body);
};

const aboutStandard = async (
  given: Given,
  timestamp: string,
  standard: string,
  id: string | undefined,
): Promise<Finding[]> => {
  if (id === undefined) return [bad('webhook-id is missing', 'webhook-signature is computed over it.')];
  const key = fromBase64(given.secret.replace(/^whsec_/, ''));
  if (!key) return [bad('The secret is not base64 after whsec_', 'It was truncated or changed.')];
  const expected = toBase64(await hmacSha256(key, `${id}.${timestamp}.${given.body}`));
  const right = standard.split(' ').some((one) => one === `v1,${expected}`);
  return right
    ? [{ tone: 'good', title: 'webhook-signature (Standard Webhooks) is valid' }]
    : [bad('webhook-signature (Standard Webhooks) does not match', 'The secret or the body is different.')];
};

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> | null => {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
};

/** A text key is used as its UTF-8 bytes. */
const hmacSha256 = async (
  key: string | Uint8Array<ArrayBuffer>,
  text: string,
): Promise<Uint8Array<ArrayBuffer>> => {
  const encoder = new TextEncoder();
  const bytes = typeof key === 'string' ? encoder.encode(key) : key;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, encoder.encode(text)));
};

const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));
