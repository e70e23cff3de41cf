import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign, verify } from 'node:crypto';
import type { SessionClaims, SignerEntry } from '@causeway/proto';
import type { KeyRing } from '@causeway/runtime';

/** A service can verify the claims without asking `access`. */
export interface SessionSigner {
  /** @returns `<id>.<claims>.<signature>`, the last two in base64url. */
  prove(claims: SessionClaims): string;
  readonly entries: ReadonlyMap<string, SignerEntry>;
}

/** Derived from the key ring, so that the signing keys need no configuration and rotate with it. */
export const createSessionSigner = (ring: KeyRing): SessionSigner => {
  const keys = new Map([...ring.keys].map(([name, secret]) => [name, signingKey(secret)]));
  const signsWith = keys.get(ring.sealsWith)!;
  return {
    prove: (claims) => {
      const text = `${ring.sealsWith}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
      return `${text}.${sign(null, Buffer.from(text), signsWith).toString('base64url')}`;
    },
    entries: new Map([...keys].map(([name, key]) => [name, { version: 1, publicKey: publicKeyOf(key) }])),
  };
};

export const signerOf = (proof: string): string | undefined =>
  /^([\w-]{1,32})\.[\w-]+\.[\w-]+$/.exec(proof)?.[1];

export const readSessionProof = (proof: string, publicKey: string): SessionClaims | undefined => {
  const end = proof.lastIndexOf('.');
  const text = proof.slice(0, end);
  const signature = Buffer.from(proof.slice(end + 1), 'base64url');
  if (!verify(null, Buffer.from(text), verifyingKey(publicKey), signature)) return undefined;
  return JSON.parse(Buffer.from(text.slice(text.indexOf('.') + 1), 'base64url').toString()) as SessionClaims;
};

/** The PKCS #8 prefix of an Ed25519 key's 32 bytes (RFC 8410). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

const signingKey = (secret: Buffer): KeyObject => {
  const seed = Buffer.from(hkdfSync('sha256', secret, '', 'causeway session proofs', 32));
  return createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: 'der', type: 'pkcs8' });
};

const publicKeyOf = (key: KeyObject): string =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64');

/** Cached, because parsing a key costs as much as verifying with it. There are one or two. */
const verifyingKey = (publicKey: string): KeyObject => {
  if (parsed?.publicKey !== publicKey) {
    const der = Buffer.from(publicKey, 'base64');
    parsed = { publicKey, key: createPublicKey({ key: der, format: 'der', type: 'spki' }) };
  }
  return parsed.key;
};
let parsed: { readonly publicKey: string; readonly key: KeyObject } | undefined;
