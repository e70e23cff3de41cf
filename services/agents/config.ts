import { integer, processConfig } from '@causeway/runtime';
import { z } from 'zod';

const url = () => z.url({ protocol: /^https?$/, error: 'must be a URL' });

export const agentsConfig = {
  ...processConfig,
  /** Only gateways may reach it: they check the API key, and name the company. */
  HOST: z.string().default('0.0.0.0'),
  PORT: integer(0, 65535).default(8080),
  /** The gateways, at their AGENTS_PORT. */
  INTERFACE_URL: url(),
  /** The installation's own addresses: a request whose `Origin` is another is refused. */
  PORTAL_URL: url().optional(),
  PUBLIC_URL: url().optional(),
} as const;

export type AgentsConfig = z.output<z.ZodObject<typeof agentsConfig>>;
