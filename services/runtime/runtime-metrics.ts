import { declareMetrics } from './metrics.ts';

export const runtimeMetrics = declareMetrics({
  batch_flushes_total: { type: 'counter', help: 'Batches flushed', labels: ['batch'] },
  batch_items_total: { type: 'counter', help: 'Items flushed in batches', labels: ['batch'] },
  causeway_build_info: { type: 'gauge', help: '1; the release of the process', labels: ['version'] },
  database_acquire_seconds: { type: 'histogram', help: 'Wait for a database connection' },
  database_clock_offset_seconds: { type: 'gauge', help: "The database's time less this machine's" },
  database_connections_in_use: { type: 'gauge', help: 'Database connections in use' },
  database_connections_waiting: { type: 'gauge', help: 'Callers that wait for a database connection' },
  database_reachable: { type: 'gauge', help: 'Whether the database server answers' },
  database_silent_seconds: { type: 'gauge', help: 'Time since the database last told its time' },
  database_transaction_retries_total: { type: 'counter', help: 'Transactions retried', labels: ['reason'] },
  database_unanswered_total: {
    type: 'counter',
    help: 'Database connections closed because a command had no answer in time',
  },
  idempotency_replays_total: {
    type: 'counter',
    help: 'Requests with an `Idempotency-Key` that got the answer of an earlier request',
  },
  lane_client_calls_total: { type: 'counter', help: 'Calls sent', labels: ['lane'] },
  lane_client_failures_total: {
    type: 'counter',
    help: 'Calls that failed without an answer',
    labels: ['lane', 'code'],
  },
  lane_client_frames_total: { type: 'counter', help: 'Request frames sent', labels: ['lane'] },
  lane_client_replicas: { type: 'gauge', help: 'Replicas that can take calls', labels: ['lane'] },
  lane_client_resends_total: {
    type: 'counter',
    help: 'Calls sent again, because a replica or a connection failed',
    labels: ['lane', 'reason'],
  },
  lane_server_batches_total: { type: 'counter', help: 'Batches passed to handlers', labels: ['operation'] },
  lane_server_call_seconds: { type: 'histogram', help: "From a call's arrival to its answer" },
  lane_server_calls_total: { type: 'counter', help: 'Calls received', labels: ['lane'] },
  lane_server_expired_total: {
    type: 'counter',
    help: 'Calls dropped because their deadline had passed',
    labels: ['lane'],
  },
  lane_server_shed_total: {
    type: 'counter',
    help: 'Calls refused because too many were in flight',
    labels: ['lane'],
  },
  log_lines_lost_total: { type: 'counter', help: 'Log lines lost because standard output refused them' },
  nats_server_switches_total: {
    type: 'counter',
    help: 'NATS servers left because they did not work',
    labels: ['reason'],
  },
  nats_standby_ready: {
    type: 'gauge',
    help: 'Whether the second NATS connection is up and hears the probes of the first',
  },
  process_ready: { type: 'gauge', help: '1 if a readiness check passes, else 0', labels: ['check'] },
  process_unexpected_errors_total: { type: 'counter', help: 'Errors that no call could be told' },
  retention_stale_seconds: {
    type: 'gauge',
    help: 'Time since old rows of these tables were last removed without an error',
    labels: ['of'],
  },
});
