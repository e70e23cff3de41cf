import { commonConfig } from '@causeway/runtime';
import { z } from 'zod';

const list = () =>
  z
    .string()
    .default('')
    .transform((text) => text.split(',').filter(Boolean));

/** Each part is watched if it is named. */
export const serversConfig = {
  ...commonConfig,
  /** `http://nats-0.nats:8222`, separated by commas. */
  NATS_MONITOR_URLS: list(),
  /** The primary first, then its replicas, separated by commas. */
  MYSQL_URL: list(),
  /** The folder with dumps and the copy of the binary log. */
  BACKUP: z.string().optional(),
  DISK_PATHS: list(),
} as const;
