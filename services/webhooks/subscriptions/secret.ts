import { problem, sealSecret } from '@causeway/proto';
import type { WebhooksContext } from '../context.ts';

/**
 * A new signing secret, as it is shown once and as it is kept.
 * @throws Problem `secret_encryption_failed`
 */
export const makeSecret = (
  { keyRing, random }: Pick<WebhooksContext, 'keyRing' | 'random'>,
  companyId: number,
): { readonly shown: string; readonly sealed: Buffer } => {
  const shown = `whsec_${Buffer.from(random(secretBytes)).toString('base64')}`;
  try {
    return { shown, sealed: sealSecret(keyRing, companyId, shown) };
  } catch (cause) {
    throw problem('secret_encryption_failed', cause);
  }
};

const secretBytes = 32;
