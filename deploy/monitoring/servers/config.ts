import { commonConfig } from '@causeway/runtime';
import { z } from 'zod';

const list = () =>
  z
    .string()
    .default('')
    .transform((text) => text.split(',').filter(Boolean));

/** Settings of the program that watches the servers; each part is watched if it is named. */
export const serversConfig = {
  ...commonConfig,
  /** Monitoring addresses of the NATS servers, `http://nats-0.nats:8222`, separated by commas. */
  NATS_MONITOR_URLS: list(),
  /** MySQL servers, the primary first, then its replicas, separated by commas. */
  MYSQL_URL: list(),
  /** The folder with dumps and the copy of the binary log (deploy/data/README.md). */
  BACKUP: z.string().optional(),
  /** Paths on the disks to watch, separated by commas. */
  DISK_PATHS: list(),
} as const;
