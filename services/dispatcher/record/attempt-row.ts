import { attemptFactColumns } from '@causeway/proto';
import type { Finished } from './finished.ts';

/** The columns of `delivery_attempts`, in the order in which they are written. */
export const attemptColumns = [
  'company_id',
  'event_id',
  'subscription_id',
  'replay_id',
  'attempt',
  'created_utc',
  ...attemptFactColumns,
  'next_attempt_utc',
] as const;

/** Turns an attempt into its row. Values that are too long are cut, so that they cannot fail the batch. */
export const attemptRow = ({ job, startedMs, result, decision }: Finished) => ({
  company_id: job.company_id,
  event_id: job.event_id,
  subscription_id: job.subscription_id,
  replay_id: job.replay_id,
  attempt: job.attempt,
  created_utc: job.created_utc,
  started_utc: new Date(startedMs),
  elapsed_ms: result.elapsedMs,
  dns_ms: result.dnsMs,
  connect_ms: result.connectMs,
  tls_ms: result.tlsMs,
  first_byte_ms: result.firstByteMs,
  url: job.target.url,
  address: result.address?.slice(0, maxAddress) ?? null,
  status_code: result.statusCode,
  error_class: result.errorClass,
  error: result.error?.slice(0, maxError) ?? null,
  request_headers: JSON.stringify(result.requestHeaders),
  response_headers: result.responseHeaders && JSON.stringify(result.responseHeaders),
  response_body: result.responseBody,
  response_truncated: result.responseTruncated ? 1 : 0,
  next_attempt_utc: decision.outcome === 'retry' && !decision.gone ? new Date(decision.dueMs) : null,
});

const maxAddress = 45;
const maxError = 500;
