import { invalidField } from '@causeway/proto';
import type { TargetRules } from '../context.ts';

/**
 * Refuses a URL that this installation does not deliver to. The same is asked again of the address that a
 * delivery connects to, on every attempt.
 * @throws Problem
 */
export const assertTarget = ({ allowHttp }: TargetRules, url: string): void => {
  const { protocol } = new URL(url);
  if (protocol === 'http:' && !allowHttp)
    throw invalidField('url', 'invalid URL: it must begin with https://');
};
