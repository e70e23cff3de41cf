import { problem } from '@causeway/proto';
import { sealSecret } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';

/** @throws Problem `secret_encryption_failed` */
export const sealGiven = (
  { keyRing }: Pick<WebhooksContext, 'keyRing'>,
  companyId: number,
  secret: string,
): Buffer => {
  try {
    return sealSecret(keyRing, companyId, secret);
  } catch (cause) {
    throw problem('secret_encryption_failed', cause);
  }
};
