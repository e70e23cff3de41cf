import { hostProblem, invalidField } from '@causeway/proto';
import type { TargetRules } from '../context.ts';

/**
 * Refuses a URL that this installation does not deliver to. The host is asked about again on every attempt,
 * and then the address that it leads to.
 * @throws Problem
 */
export const assertTarget = ({ allowHttp, allowPrivate }: TargetRules, url: string): void => {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'http:' && !allowHttp)
    throw invalidField('url', 'invalid URL: it must begin with https://');
  const problem = allowPrivate ? undefined : hostProblem(hostname);
  if (problem) throw invalidField('url', `invalid URL: the host is ${problem}`);
};
