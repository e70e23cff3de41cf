import { hmacSha256, toBase64, toHex } from './hmac.ts';

export interface Given {
  readonly secret: string;
  readonly headers: string;
  readonly body: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface Finding {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly title: string;
  readonly advice?: string;
}

/** Looks at a delivery as its receiver has it, and says whether the signature fits, and if not, which part is wrong. */
export const diagnose = async (given: Given): Promise<readonly Finding[]> => {
  const headers = parseHeaders(given.headers);
  const timestamp = headers.get('x-webhook-timestamp') ?? headers.get('webhook-timestamp');
  const signature = headers.get('x-webhook-signature');
  const standard = headers.get('webhook-signature');
  const findings: Finding[] = [...aboutSecret(given.secret)];
  if (timestamp === undefined)
    return [
      ...findings,
      bad('X-Webhook-Timestamp is missing', 'Paste all headers of the delivery, one a line.'),
    ];
  if (!/^\d+$/.test(timestamp))
    return [
      ...findings,
      bad('X-Webhook-Timestamp is no number', 'It is the time in seconds since 1970, as it was sent.'),
    ];
  findings.push(...aboutAge(Number(timestamp), given.now));
  if (signature === undefined && standard === undefined)
    return [
      ...findings,
      bad('There is no signature', 'Paste the line X-Webhook-Signature, or webhook-signature.'),
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
        'The secret has blanks or a line break around it',
        'Cut them off; this often happens in environment files.',
      ),
    ];
  if (!secret.startsWith('whsec_'))
    return [bad('The secret does not begin with whsec_', 'The whole text is the key, whsec_ included.')];
  return [];
};

/** Receivers usually allow five minutes. */
const toleranceSeconds = 300;

const aboutAge = (timestamp: number, now: number): Finding[] => {
  const age = Math.round(now / 1000 - timestamp);
  if (Math.abs(age) <= toleranceSeconds) return [];
  return [
    {
      tone: 'warn',
      title: `The timestamp is ${Math.abs(age)} seconds ${age > 0 ? 'old' : 'in the future'}`,
      advice:
        'Fine for a delivery of a while ago. If your receiver sees this right as a delivery comes in, its clock is wrong.',
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
    return [{ tone: 'good', title: 'X-Webhook-Signature is right' }];
  if (!signatures.every((one) => /^sha256=[0-9a-f]{64}$/.test(one)))
    return [
      bad(
        'X-Webhook-Signature is not of the form sha256=<64 hexadecimal digits>',
        'It was cut or changed on its way.',
      ),
    ];
  for (const [text, title, advice] of bodiesToTry(body)) {
    if (await matches(secret, `${timestamp}.${text}`)) return [bad(title, advice)];
  }
  if (await matches(secret.trim(), `${timestamp}.${body}`))
    return [bad('It fits without the blanks around the secret', 'Cut them off.')];
  if (await matches(`whsec_${secret}`, `${timestamp}.${body}`))
    return [bad('It fits with whsec_ before the secret', 'The key is the whole text.')];
  return [
    bad(
      'X-Webhook-Signature does not fit',
      'Either the secret is another one (of another subscription, or from before it was renewed), or the body is not the one that was sent, byte for byte.',
    ),
  ];
};

/** Bodies that would fit if something had changed the one that was sent. */
const bodiesToTry = (body: string): readonly (readonly [text: string, title: string, advice: string])[] => {
  const raw = 'Check the raw bytes of the request, before any parsing.';
  const tries: [string, string, string][] = [
    [body.replace(/\r?\n$/, ''), 'The body has a line break too many at its end', raw],
    [body.trim(), 'The body has blanks around it that were not sent', raw],
    [body.replaceAll('\r\n', '\n'), 'The line breaks of the body were changed', raw],
  ];
  try {
    const compact = JSON.stringify(JSON.parse(body));
    tries.push([
      compact,
      'The body was parsed and written again',
      `It fits once the blanks are gone. ${raw}`,
    ]);
  } catch {
    // What is no JSON cannot have been written again.
  }
  return tries.filter(([text]) => text !== body);
};

const aboutStandard = async (
  given: Given,
  timestamp: string,
  standard: string,
  id: string | undefined,
): Promise<Finding[]> => {
  if (id === undefined)
    return [bad('webhook-id is missing', 'It is a part of what webhook-signature is made over.')];
  const key = fromBase64(given.secret.replace(/^whsec_/, ''));
  if (!key) return [bad('The secret is not base64 after whsec_', 'It was cut or changed.')];
  const expected = toBase64(await hmacSha256(key, `${id}.${timestamp}.${given.body}`));
  const right = standard.split(' ').some((one) => one === `v1,${expected}`);
  return right
    ? [{ tone: 'good', title: 'webhook-signature (Standard Webhooks) is right' }]
    : [bad('webhook-signature (Standard Webhooks) does not fit', 'The secret or the body is another one.')];
};

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> | null => {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
};
