import { z } from 'zod';
import { parseKeyRing } from './sealed-secret.ts';

/** @param service where several share a process, its own variables are named `SERVICE__NAME`. */
export const readEnv = (service?: string, env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv => {
  if (service === undefined) return env;
  const prefix = `${service.toUpperCase()}__`;
  const its = Object.entries(env).filter(([name]) => name.startsWith(prefix));
  return {
    ...env,
    ...Object.fromEntries(its.map(([name, value]) => [name.slice(prefix.length), value])),
  };
};

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Parses the environment. An empty variable counts as absent, because manifests cannot express absence.
 * @throws ConfigError naming every variable that is wrong, never its value.
 */
export const parseConfig = <Shape extends z.ZodRawShape>(
  shape: Shape,
  env: NodeJS.ProcessEnv,
): z.output<z.ZodObject<Shape>> => {
  const variables = Object.fromEntries(
    Object.keys(shape).flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  );
  const result = z.object(shape).safeParse(variables);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) =>
    variables[issue.path.join('.')] === undefined
      ? `${issue.path.join('.')} is required`
      : `${issue.path.join('.')}: ${issue.message}`,
  );
  throw new ConfigError(`configuration: ${problems.join('; ')}`);
};

const wholeNumber = /^\d{1,15}$/;

export const integer = (min: number, max: number) =>
  z
    .string()
    .regex(wholeNumber, `must be a whole number between ${min} and ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number between ${min} and ${max}`);

export const flag = () => z.enum(['true', 'false']).transform((value) => value === 'true');

const unitsMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
const durationText = 'must be a duration, as 500ms, 15s, 2m or 8h';

const toMs = (text: string): number => {
  const [, count = '', unit = ''] = /^(\d{1,9})(ms|s|m|h)$/.exec(text.trim()) ?? [];
  return unit ? Number(count) * unitsMs[unit as keyof typeof unitsMs] : Number.NaN;
};

export const duration = (minMs: number, maxMs: number) =>
  z
    .string()
    .transform(toMs)
    .refine((ms) => !Number.isNaN(ms), durationText)
    .refine((ms) => Number.isNaN(ms) || (ms >= minMs && ms <= maxMs), 'is out of bounds');

export const durations = (maxCount: number, maxMs: number) =>
  z
    .string()
    .transform((text) => text.split(',').map(toMs))
    .refine((list) => list.every((ms) => ms <= maxMs), `each ${durationText}, at most ${maxMs} ms`)
    .refine((list) => list.length <= maxCount, `must be at most ${maxCount}`);

export const ports = () =>
  z
    .string()
    .transform((text): 'any' | ReadonlySet<number> =>
      text === 'any'
        ? text
        : new Set(text.split(',').map((port) => (wholeNumber.test(port) ? Number(port) : 0))),
    )
    .refine(
      (list) => list === 'any' || [...list].every((port) => port >= 1 && port <= 65_535),
      'must be ports from 1 to 65535 separated by commas, or any',
    );

/** Encryption keys, `name:key,name:key`, each key 32 bytes in base64. The first encrypts; all decrypt. */
export const keyRing = () =>
  z.string().transform((text, context) => {
    try {
      return parseKeyRing(text);
    } catch (error) {
      context.issues.push({ code: 'custom', input: '', message: (error as Error).message });
      return z.NEVER;
    }
  });

export const mysqlConfig = (poolSize: number) => ({
  /** `mysql://user:password@host:port/database` */
  MYSQL_URL: z.string(),
  /** Connections to MySQL; going far above its number of cores gains nothing. */
  MYSQL_POOL_SIZE: integer(1, 1000).default(poolSize),
  /** `vtgate` if the URL leads to vtgate: then no transaction concerns companies of several shards. */
  MYSQL_SHARDS: z.enum(['none', 'vtgate']).default('none'),
});

export type MysqlConfig = z.output<z.ZodObject<ReturnType<typeof mysqlConfig>>>;

/** Of every process. */
export const processConfig = {
  /** This process's name in logs, metrics and lanes; unique in the cluster. */
  INSTANCE: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be letters, digits, - and _')
    .optional(),
  /** Where /healthz, /readyz and /metrics listen; 0 takes a free port. */
  METRICS_HOST: z.string().default('127.0.0.1'),
  METRICS_PORT: integer(0, 65535).default(0),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** A stopping process exits after this time even if work is left. */
  DRAIN_TIMEOUT_MS: integer(0, 600_000).default(25_000),
} as const;

export const commonConfig = {
  ...processConfig,
  /** `tls://user:password@host:port`, several separated by commas (`parseNatsUrl`); `nats://` is plain. */
  NATS_URL: z.string().default('nats://127.0.0.1:4222'),
  /** Certificate authorities trusted for NATS servers, and the client certificate with its key: PEM files. */
  NATS_CA_FILE: z.string().optional(),
  NATS_CERT_FILE: z.string().optional(),
  NATS_KEY_FILE: z.string().optional(),
} as const;
