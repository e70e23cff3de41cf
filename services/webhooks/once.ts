import { type KeyRing, openSecret, sealSecret } from '@causeway/proto';
import { createOnce, type Database, type Once } from '@causeway/runtime';
import type { Tables } from './tables.ts';

/** Stores answers encrypted, because those of creating a subscription and of rotating its secret hold the secret. */
export const openOnce = ({ db, keyRing, now }: OnceContext): Once<Tables> =>
  createOnce({
    db,
    now,
    seal: {
      seal: (companyId, answer) => sealSecret(keyRing, companyId, answer.toString()),
      open: (companyId, sealed) => Buffer.from(openSecret(keyRing, companyId, sealed)),
    },
  });

interface OnceContext {
  readonly db: Database<Tables>;
  readonly keyRing: KeyRing;
  readonly now: () => Date;
}
