import { commonConfig, integer } from '@causeway/runtime';
import { z } from 'zod';

const limit = () => integer(1, 1_000_000_000);

/** What the gateway reads from its environment. */
export const gatewayConfig = {
  ...commonConfig,
  HOST: z.string().default('0.0.0.0'),
  /** Several gateways share one port (SO_REUSEPORT). */
  PORT: integer(0, 65535).default(8080),
  API_KEY_PREFIX: z
    .string()
    .regex(/^[a-z][a-z0-9]{0,15}$/, 'must be up to 16 lower-case letters and digits')
    .default('crm'),
  /** Requests a minute and key, unless the company or the key has limits of its own. */
  RATE_LIMIT_READ: limit().default(60),
  RATE_LIMIT_WRITE: limit().default(100),
  RATE_LIMIT_ADMIN: limit().default(200),
  /** Gives the lookups a bucket of their own; without it they count as reads. */
  RATE_LIMIT_LOOKUP: limit().optional(),
  /** A company's ceiling in a bucket over all its keys, in limits of one key. */
  RATE_LIMIT_COMPANY_FACTOR: integer(1, 1_000_000).default(20),
  /** Requests a minute and signed-in member of the portal. Its pages ask some ten times for each click. */
  RATE_LIMIT_PORTAL: limit().default(1200),
  /** Calls in flight to one service before the gateway sheds. */
  LANE_MAX_IN_FLIGHT: integer(1, 100_000).default(4096),
  /** Bytes of all bodies that are being read or worked on, before the gateway sheds. */
  BODY_BYTES_IN_FLIGHT: integer(2 ** 20, 2 ** 40).default(64 * 2 ** 20),
  /** Chunks that one body may come in. */
  BODY_MAX_CHUNKS: integer(1, 1_000_000).default(8192),
  /** Where the built portal lies; without it the gateway shows its welcome page. */
  PORTAL_DIR: z.string().optional(),
  /** Live tails open on this gateway: of all, of a company, of a session. */
  TAILS_MAX: integer(1, 100_000).default(1000),
  TAILS_PER_COMPANY: integer(1, 100_000).default(50),
  TAILS_PER_SESSION: integer(1, 1000).default(4),
  /** Proxies in front, each of which adds to X-Forwarded-For; what they say of the client is believed. */
  TRUSTED_PROXIES: integer(0, 10).default(0),
  /** After a SIGTERM, how long idle keep-alive connections are still served before they are closed. */
  DRAIN_LINGER_MS: integer(0, 60_000).default(500),
} as const;

export type GatewayConfig = z.output<z.ZodObject<typeof gatewayConfig>>;
