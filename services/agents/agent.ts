import type { IncomingHttpHeaders } from 'node:http';
import type { Send } from '@causeway/proto/client/calls';

/** Who sent a request, as the gateway has established. */
export interface AgentFacts {
  readonly apiKey: string;
  readonly companyId: string;
  readonly scopes: readonly string[];
  readonly address: string;
  readonly requestId: string;
  readonly traceparent: string;
}

export interface Agent extends AgentFacts {
  /** Aborted when the agent has disconnected. */
  readonly gone: AbortSignal;
  /** Calls the interface as this agent. */
  readonly send: Send;
}

export const readAgent = (headers: IncomingHttpHeaders): AgentFacts => {
  const text = (name: string): string => String(headers[name] ?? '');
  return {
    apiKey: text('x-api-key'),
    companyId: text('x-causeway-company'),
    scopes: text('x-causeway-scopes').split(','),
    address: text('x-forwarded-for'),
    requestId: text('x-request-id'),
    traceparent: text('traceparent'),
  };
};
