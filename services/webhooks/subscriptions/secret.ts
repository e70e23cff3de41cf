import { problem, sealSecret } from '@causeway/proto';
import type { WebhooksContext } from '../context.ts';

/**
 * Creates a signing secret: the text that is shown once, and its sealed form, which is stored.
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
