import { isIP } from 'node:net';
import { retryScheduleMs } from '@causeway/proto';
import {
  ConfigError,
  commonConfig,
  duration,
  durations,
  flag,
  integer,
  keyRing,
  mysqlConfig,
  parseConfig,
} from '@causeway/runtime';
import { z } from 'zod';
import { type MailSettings, senderText } from './notices/mail.ts';

const limit = () => integer(1, 1_000_000_000);
const days = (count: number): number => count * 86_400_000;

export const readConfig = (env: NodeJS.ProcessEnv) =>
  parseConfig(
    {
      ...commonConfig,
      ...mysqlConfig(5),
      /** The prefix of every API key (contract, "Identifiers, keys, scopes"). */
      API_KEY_PREFIX: z
        .string()
        .regex(/^[A-Za-z0-9]{1,20}$/, 'must be 1 to 20 letters and digits')
        .default('crm'),
      QUOTA_KEYS: integer(1, 1_000_000).default(200),
      /** Copies of each NATS bucket: 1 on a single server, 3 in a cluster. */
      NATS_REPLICAS: integer(1, 5).default(1),
      /** The tags of the three NATS servers that hold the limiter's logs; used if there are three copies. */
      LIMIT_LOG_SERVERS: z
        .string()
        .regex(/^[a-z0-9_-]+(,[a-z0-9_-]+){2}$/, 'must be three names separated by commas')
        .default('nats-1,nats-2,nats-3'),
      /** Seals second factors. */
      PORTAL_SECRET_KEYS: keyRing(),
      PORTAL_IDLE_TIMEOUT: duration(1000, days(30)).default(8 * 3_600_000),
      PORTAL_SESSION_TIMEOUT: duration(1000, days(30)).default(days(1)),
      /** After it, changes of keys, rights and factors ask the member for the password or a passkey again. */
      PORTAL_PROOF_TIMEOUT: duration(1000, days(30)).default(600_000),
      /** Where customers reach the interface, if that is not the portal's own origin. */
      PUBLIC_URL: z.url({ protocol: /^https?$/, error: 'must be a URL' }).optional(),
      /** Where mail goes: `smtp://user:password@host:port`, or `smtps://`. Without it, no mail is sent. */
      SMTP_URL: z
        .url({ protocol: /^smtps?$/, error: 'must be a URL that begins with smtp:// or smtps://' })
        .optional(),
      /** The sender of mails; needed with SMTP_URL. */
      MAIL_FROM: senderText().optional(),
      /** Where members reach the portal: for passkeys, which browsers bind to it, and for links in mails. */
      PORTAL_URL: z.url({ protocol: /^https?$/, error: 'must be a URL' }).optional(),
      /** The gateways and the webhooks service enforce these; the portal only shows them. */
      RATE_LIMIT_READ: limit().default(60),
      RATE_LIMIT_WRITE: limit().default(100),
      RATE_LIMIT_ADMIN: limit().default(200),
      RATE_LIMIT_LOOKUP: limit().optional(),
      WEBHOOKS_ALLOW_HTTP: flag().default(false),
      WEBHOOKS_ALLOW_PRIVATE: flag().default(false),
      WEBHOOKS_RETRY_SCHEDULE: durations(50, 72 * 3_600_000).default([...retryScheduleMs]),
      RETENTION_DAYS: integer(1, 400).default(30),
      AUDIT_DAYS: integer(30, 10_000).optional(),
    },
    env,
  );

/** @throws ConfigError if some of the mail settings are missing */
export const mailSettings = ({
  SMTP_URL: url,
  MAIL_FROM: from,
  PORTAL_URL: portalUrl,
}: ReturnType<typeof readConfig>): MailSettings | null => {
  if (url === undefined) return null;
  if (from === undefined || portalUrl === undefined)
    throw new ConfigError('configuration: SMTP_URL needs MAIL_FROM and PORTAL_URL');
  return { url, from, portalUrl: portalUrl.replace(/\/$/, '') };
};

/** Null where browsers know no passkeys: they need a name, and `https` except on localhost. */
export const passkeySite = (portalUrl: string | undefined): PasskeySite | null => {
  const { origin, hostname, protocol } = new URL(portalUrl ?? 'http://0.0.0.0');
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return null;
  return protocol === 'https:' || hostname === 'localhost' ? { origin, host: hostname } : null;
};

/** The relying party of WebAuthn. */
export interface PasskeySite {
  readonly origin: string;
  readonly host: string;
}

export const portalSettings = (config: ReturnType<typeof readConfig>) => ({
  keyRing: config.PORTAL_SECRET_KEYS,
  idleTimeoutMs: config.PORTAL_IDLE_TIMEOUT,
  sessionTimeoutMs: config.PORTAL_SESSION_TIMEOUT,
  proofTimeoutMs: config.PORTAL_PROOF_TIMEOUT,
  passkeys: passkeySite(config.PORTAL_URL),
  /** Requests a minute; `lookup` is null where lookups count as reads. */
  limits: {
    read: config.RATE_LIMIT_READ,
    write: config.RATE_LIMIT_WRITE,
    admin: config.RATE_LIMIT_ADMIN,
    lookup: config.RATE_LIMIT_LOOKUP ?? null,
  },
  features: { allowHttp: config.WEBHOOKS_ALLOW_HTTP, allowPrivate: config.WEBHOOKS_ALLOW_PRIVATE },
  baseUrl: config.PUBLIC_URL?.replace(/\/$/, '') ?? null,
  retentionDays: config.RETENTION_DAYS,
  auditDays: config.AUDIT_DAYS ?? null,
  /** From the first attempt of a delivery to its last. */
  retryForMs: config.WEBHOOKS_RETRY_SCHEDULE.reduce((sum, wait) => sum + wait, 0),
});
