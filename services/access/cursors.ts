import type { KeyRing } from '@causeway/proto';
import { type Cursors, createCursors } from '@causeway/runtime';
import { derivedKeys } from './sessions/signer.ts';

/** The cursors of this service's lists, sealed with the portal's key ring. */
export const openCursors = (keyRing: KeyRing): Cursors<'audit' | 'keys' | 'keys by use'> => {
  const keys = derivedKeys(keyRing, 'cursors');
  return createCursors({ audit: 1, keys: 1, 'keys by use': 2 }, async () => keys);
};
