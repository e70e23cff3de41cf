import type { AgentError, ErrorClass } from '@causeway/proto';

/** A category, so that nobody reads through Causeway what a server answers. */
export const agentErrorOf = (error: ErrorClass, status: number | null): AgentError => {
  if (error === 'timeout') return 'timeout';
  if (error === 'tls') return 'tls_error';
  if (error === 'status' || error === 'redirect') return (status ?? 0) >= 500 ? 'http_5xx' : 'http_4xx';
  return 'connection_refused';
};
