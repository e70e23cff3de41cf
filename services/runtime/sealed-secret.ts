import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/**
 * AES-256-GCM. The company is authenticated data: a secret copied to another company's row does not decrypt.
 * Layout: version (1 byte, 1), length of the key's name (1 byte), name, nonce (12), tag (16), ciphertext.
 */
export interface KeyRing {
  readonly sealsWith: string;
  readonly keys: ReadonlyMap<string, Buffer>;
}

/** Reads `name:key,name:key`; the first key encrypts. @throws Error whose message never contains a key. */
export const parseKeyRing = (text: string): KeyRing => {
  const keys = new Map<string, Buffer>();
  for (const entry of text.split(',')) {
    const [, name, encoded] = /^([\w-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(entry.trim()) ?? [];
    if (!name || !encoded) throw new Error('each key must be name:key, the key 32 bytes in base64');
    if (keys.has(name)) throw new Error(`the key name ${name} occurs twice`);
    keys.set(name, Buffer.from(encoded, 'base64'));
  }
  const [sealsWith = ''] = keys.keys();
  return { sealsWith, keys };
};

export const sealSecret = (ring: KeyRing, companyId: number, secret: string): Buffer => {
  const name = Buffer.from(ring.sealsWith);
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, keyOf(ring, ring.sealsWith), nonce);
  cipher.setAAD(boundTo(companyId));
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.from([version, name.length]), name, nonce, cipher.getAuthTag(), text]);
};

/** @throws Error if the ring lacks the key, or the bytes were not sealed for this company. */
export const openSecret = (ring: KeyRing, companyId: number, sealed: Uint8Array): string => {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const nonceAt = 2 + (bytes[1] ?? 0);
  const tagAt = nonceAt + nonceBytes;
  const textAt = tagAt + tagBytes;
  if (bytes[0] !== version || bytes.length < textAt) throw new Error('not a sealed secret');
  const key = keyOf(ring, sealedWith(bytes));
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(nonceAt, tagAt));
  decipher.setAAD(boundTo(companyId)).setAuthTag(bytes.subarray(tagAt, textAt));
  return decipher.update(bytes.subarray(textAt), undefined, 'utf8') + decipher.final('utf8');
};

export const sealedWith = (sealed: Uint8Array): string =>
  Buffer.from(sealed.buffer, sealed.byteOffset + 2, sealed[1]).toString();

const algorithm = 'aes-256-gcm';
const version = 1;
const nonceBytes = 12;
const tagBytes = 16;

const boundTo = (companyId: number): Buffer => Buffer.from(`signing secret of company ${companyId}`);

const keyOf = ({ keys }: KeyRing, name: string): Buffer => {
  const key = keys.get(name);
  if (!key) throw new Error(`the key ring has no key ${name}`);
  return key;
};
