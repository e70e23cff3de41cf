import { maxAgentBytes } from '@causeway/proto';
import { createSender, type Send } from '@causeway/proto/client/calls';
import { CausewayError } from '@causeway/proto/client/errors';
import type { AgentFacts } from './agent.ts';

/** What the answer to the agent says about the tool's request. */
export interface CalledInterface {
  isCalled: boolean;
  isRevoked: boolean;
  limits: Readonly<Record<string, string>>;
}

interface InterfaceOptions extends Pick<AgentFacts, 'apiKey' | 'address' | 'traceparent'> {
  readonly called: CalledInterface;
  /** Runs while others have the turn. */
  readonly outside: <Result>(wait: () => Promise<Result>) => Promise<Result>;
}

/** An answer of more than an agent can read. */
export class AnswerTooLongError extends CausewayError {
  override readonly name = 'AnswerTooLongError';
}

/**
 * Our own client, with the key and the address of the agent: so the checks of key, network and scope, the limits, the
 * log and the statistics are those of the interface. An agent decides itself about retries.
 */
export const openInterface = (
  baseUrl: string,
  { apiKey, address, traceparent, called, outside }: InterfaceOptions,
): Send =>
  createSender({
    baseUrl,
    apiKey,
    maxRetries: 0,
    fetch: async (url, init) => {
      const headers = {
        ...(init?.headers as Record<string, string>),
        traceparent,
        'X-Forwarded-For': address,
      };
      called.isCalled = true;
      const response = await outside(() => fetch(url, { ...init, headers }));
      called.isRevoked = response.status === 401;
      called.limits = Object.fromEntries(
        [...response.headers].filter(([name]) => /^(x-)?ratelimit/.test(name)),
      );
      if (Number(response.headers.get('Content-Length')) <= maxAgentBytes) return response;
      await response.body?.cancel();
      throw new AnswerTooLongError('the answer is too long for an agent');
    },
  });
