import { commonConfig, integer } from '@causeway/runtime';
import { z } from 'zod';

const limit = () => integer(1, 1_000_000_000);

export const gatewayConfig = {
  ...commonConfig,
  HOST: z.string().default('0.0.0.0'),
  /** Several gateways share one port (SO_REUSEPORT). */
  PORT: integer(0, 65535).default(8080),
  API_KEY_PREFIX: z
    .string()
    .regex(/^[a-z][a-z0-9]{0,15}$/, 'must be up to 16 lower-case letters and digits')
    .default('crm'),
  /** Requests per minute and key, unless the company or the key has its own limits. */
  RATE_LIMIT_READ: limit().default(60),
  RATE_LIMIT_WRITE: limit().default(100),
  RATE_LIMIT_ADMIN: limit().default(200),
  /** Gives lookups their own bucket; without it they count as reads. */
  RATE_LIMIT_LOOKUP: limit().optional(),
  /** A multiple of one key's limit, over all keys of the company. */
  RATE_LIMIT_COMPANY_FACTOR: integer(1, 1_000_000).default(20),
  /** Requests per minute and signed-in member of the portal. Its pages send about ten requests per click. */
  RATE_LIMIT_PORTAL: limit().default(1200),
  /** NATS servers; with three or more, the limiter has three logs. Every gateway needs the same value. */
  NATS_REPLICAS: integer(1, 5).default(1),
  BODY_MAX_CHUNKS: integer(1, 1_000_000).default(8192),
  /** The process that serves /mcp; without it, /mcp is not available. */
  AGENTS_URL: z.url({ protocol: /^https?$/, error: 'must be a URL' }).optional(),
  /** Where it calls the interface, and says whose address it has: nobody else may reach this port. */
  AGENTS_PORT: integer(1, 65535).optional(),
  /** The folder of the built portal; without it the gateway shows its welcome page. */
  PORTAL_DIR: z.string().optional(),
  /** Where customers reach the interface, which its documents name; without it, the portal's origin. */
  PUBLIC_URL: z.url({ protocol: /^https?$/, error: 'must be a URL' }).optional(),
  PORTAL_URL: z.url({ protocol: /^https?$/, error: 'must be a URL' }).optional(),
  /** Each adds to X-Forwarded-For. */
  TRUSTED_PROXIES: integer(0, 10).default(0),
  /** Unless their clients close them, idle connections stay open so long after a SIGTERM. */
  DRAIN_LINGER_MS: integer(0, 60_000).default(500),
} as const;

export type GatewayConfig = z.output<z.ZodObject<typeof gatewayConfig>>;
