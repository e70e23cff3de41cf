import { randomBytes } from 'node:crypto';
import {
  type ActorUser,
  type CallKey,
  type KeyEntry,
  keyBucket,
  keyEntryName,
  metaEntryName,
  scopes,
  signerEntryName,
} from '@causeway/proto';
import type { Bus, KeyRing } from '@causeway/runtime';
import { jetstream } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { hashKeyValue } from '../keys.ts';
import { createSessionSigner } from '../session-proof.ts';

export interface TestCallers {
  readonly bucket: KV;
  /** Id 1 and all scopes by default; created on first use. */
  key(companyId: number, fields?: Partial<KeyEntry>): Promise<CallKey>;
  /** Valid for an hour of this process's clock by default. */
  session(companyId: number, user: ActorUser, lifeMs?: number): string;
}

export const testCallers = async ({ nc }: Bus): Promise<TestCallers> => {
  // A starved server may take longer than the five seconds of the library.
  const bucket = await new Kvm(jetstream(nc, { timeout: 30_000 })).create(keyBucket, {
    history: 1,
    allow_direct: false,
  });
  const ring: KeyRing = { sealsWith: 'test', keys: new Map([['test', randomBytes(32)]]) };
  const signer = createSessionSigner(ring);
  for (const [id, entry] of signer.entries) await bucket.put(signerEntryName(id), JSON.stringify(entry));
  await bucket.put(metaEntryName, JSON.stringify({ ready: true }));
  const made = new Map<string, Promise<CallKey>>();
  const make = async (companyId: number, fields: Partial<KeyEntry>): Promise<CallKey> => {
    const proof = hashKeyValue(randomBytes(16).toString('hex'));
    const entry: KeyEntry = { version: 1, id: 1, companyId, scopes, active: true, ...fields };
    await bucket.put(keyEntryName(proof), JSON.stringify(entry));
    return { proof, address: '203.0.113.7' };
  };
  return {
    bucket,
    key: (companyId, fields = {}) => {
      const name = JSON.stringify([companyId, fields]);
      const key = made.get(name) ?? make(companyId, fields);
      made.set(name, key);
      return key;
    },
    session: (companyId, user, lifeMs = 3_600_000) =>
      signer.prove({ companyId, user, untilMs: Date.now() + lifeMs }),
  };
};
