// Not the whole contract: each thread would take half a second of processor time to load it.
import {
  type OpenSecret,
  openedSecret,
  signatureHeader,
  standardSignatureHeader,
} from '@causeway/proto/signatures';
import { type KeyRing, openSecret } from '@causeway/runtime/sealed-secret';
import { workerData } from 'piscina';

export interface SignTask {
  readonly timestamp: number;
  readonly bodies: Uint8Array;
  readonly items: readonly SignItem[];
}

export interface SignItem {
  readonly companyId: number;
  readonly eventId: number;
  readonly secrets: readonly Uint8Array[];
  readonly end: number;
}

export type Signatures = readonly [signature: string, standard: string] | { readonly error: string };

/** The signing threads are the only place where secrets are decrypted. */
export default ({ timestamp, bodies, items }: SignTask): readonly Signatures[] => {
  let start = 0;
  return items.map(({ companyId, eventId, secrets: sealed, end }) => {
    const body = bodies.subarray(start, end);
    start = end;
    try {
      const secrets = sealed.map((one) => opened(companyId, one));
      return [
        signatureHeader(secrets, timestamp, body),
        standardSignatureHeader(secrets, eventId, timestamp, body),
      ];
    } catch (error) {
      return { error: (error as Error).message };
    }
  });
};

const maxSecrets = 10_000;
const secretsByBytes = new Map<string, OpenSecret>();

/** Evicts the least recently used first: a map keeps insertion order. */
const opened = (companyId: number, sealed: Uint8Array): OpenSecret => {
  const name = `${companyId}.${Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength).toString('latin1')}`;
  const known = secretsByBytes.get(name);
  const secret = known ?? openedSecret(openSecret(workerData as KeyRing, companyId, sealed));
  if (known) secretsByBytes.delete(name);
  secretsByBytes.set(name, secret);
  if (secretsByBytes.size > maxSecrets) secretsByBytes.delete(secretsByBytes.keys().next().value!);
  return secret;
};
