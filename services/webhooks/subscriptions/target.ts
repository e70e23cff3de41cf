import { type Detail, deliveryPorts, hostProblem, invalidField, Problem, portProblem } from '@causeway/proto';
import type { TargetRules } from '../context.ts';

/**
 * Refuses a URL that this installation does not deliver to. Every attempt checks the host again, and the address that
 * it resolves to.
 * @throws Problem
 */
export const assertTarget = (rules: TargetRules, url: string): void => {
  const { allowHttp, allowPrivate } = rules;
  const target = new URL(url);
  const { protocol, hostname } = target;
  if (protocol === 'http:' && !allowHttp)
    throw invalidField('url', 'invalid URL: it must begin with https://');
  const closed = portProblem(target, deliveryPorts(rules.ports, rules));
  if (closed) throw invalidField('url', `invalid URL: the port is ${closed}`);
  const problem = allowPrivate ? undefined : hostProblem(hostname);
  if (problem) throw invalidField('url', `invalid URL: the host is ${problem}`);
};

/** The same check for a call that may have other problems too: the error lists all of them. */
export const targetProblems =
  (rules: TargetRules) =>
  ({ url }: { readonly url?: string | undefined }): readonly Detail[] => {
    if (url === undefined) return [];
    try {
      assertTarget(rules, url);
      return [];
    } catch (error) {
      if (error instanceof Problem && error.details) return error.details;
      throw error;
    }
  };
