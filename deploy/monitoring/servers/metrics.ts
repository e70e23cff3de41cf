import { declareMetrics } from '@causeway/runtime';

/** The metrics of the servers, backups and disks that the services depend on. */
export const serversMetrics = declareMetrics({
  backup_age_seconds: { type: 'gauge', help: 'Age of the newest dump' },
  backup_binlog_behind_seconds: {
    type: 'gauge',
    help: 'Time since the copy of the binary log had everything that MySQL had written',
  },
  disk_free_ratio: { type: 'gauge', help: 'Free share of the disk of a path', labels: ['path'] },
  mysql_replica_lag_seconds: { type: 'gauge', help: 'Lag of a replica', labels: ['server'] },
  mysql_replica_running: {
    type: 'gauge',
    help: '1 if a replica receives and applies changes, else 0',
    labels: ['server'],
  },
  nats_leader_known: {
    type: 'gauge',
    help: '1 if a NATS server knows the leader of its cluster, else 0',
    labels: ['server'],
  },
  nats_peers_missing: {
    type: 'gauge',
    help: 'NATS servers that are offline or behind, as the leader sees it',
    labels: ['server'],
  },
  nats_store_ratio: {
    type: 'gauge',
    help: "Used share of a NATS server's store of streams",
    labels: ['server', 'kind'],
  },
  server_certificate_seconds: {
    type: 'gauge',
    help: "Time until a server's certificate expires",
    labels: ['server'],
  },
  server_up: { type: 'gauge', help: '1 if a server answers, else 0', labels: ['server'] },
});
