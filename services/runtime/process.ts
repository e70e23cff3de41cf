import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { z } from 'zod';
import { collectAtRest } from './collect.ts';
import { ConfigError, type commonConfig, type processConfig } from './config.ts';
import { createLog, type Log } from './log.ts';
import { createMetrics, type Metrics, scrape } from './metrics.ts';
import { runtimeMetrics } from './runtime-metrics.ts';

type ProcessConfig = z.output<z.ZodObject<typeof processConfig>>;
export type CommonConfig = z.output<z.ZodObject<typeof commonConfig>>;

export interface Kit {
  readonly name: string;
  readonly instance: string;
  readonly log: Log;
  readonly metrics: Metrics;
  ready(name: string, check: ReadyCheck): void;
  /** The last registered runs first. Register right after creating a resource. */
  onStop(name: string, stop: () => Promise<void> | void): void;
  fail(reason: string, error?: unknown): void;
}

/** The first SIGTERM or SIGINT, or the end of the supervisor (its IPC channel closes), starts the drain. */
export const runProcess = async <Config extends ProcessConfig>(
  name: string,
  readConfig: () => Config,
  start: (kit: Kit, config: Config) => Promise<void>,
): Promise<void> => {
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${name}: ${error.message}\n`);
    process.exit(configExit);
  }
  const instance = config.INSTANCE ?? `${name}-${randomBytes(4).toString('hex')}`;
  const metrics = createMetrics();
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  metrics.gauge(runtimeMetrics.causeway_build_info, () => 1, { version });
  const lost = metrics.counter(runtimeMetrics.log_lines_lost_total).cell();
  const { log, flush } = createLog({ name, instance, level: config.LOG_LEVEL, onLost: () => lost.value++ });
  const checks = new Map<string, ReadyCheck>();
  const stops: { name: string; stop: () => Promise<void> | void }[] = [];

  const drain = async (reason: string): Promise<void> => {
    const startedMs = performance.now();
    log.info({ reason }, 'draining');
    setTimeout(() => {
      log.error({ timeoutMs: config.DRAIN_TIMEOUT_MS }, 'drain took too long; ending with work left');
      flush();
      process.exit(1);
    }, config.DRAIN_TIMEOUT_MS).unref();
    for (const part of stops.reverse()) {
      try {
        await part.stop();
      } catch (error) {
        log.error({ error, part: part.name }, 'part did not stop cleanly');
      }
    }
    log.info({ durationMs: Math.round(performance.now() - startedMs) }, 'stopped');
    flush();
  };
  let stopping: Promise<void> | undefined;
  processes.push({ stop: (reason) => (stopping ??= drain(reason)) });
  if (processes.length === 1) {
    collectAtRest();
    process.on('SIGTERM', () => void end('SIGTERM', 0));
    process.on('SIGINT', () => void end('SIGINT', 0));
    process.on('disconnect', () => void end('the supervisor is gone', 0));
  }
  let started = false;
  const unexpected = metrics.counter(runtimeMetrics.process_unexpected_errors_total).cell();
  // Ending the process would fail the calls of all its callers, and a caller who can make it throw could do so again and again.
  // Calls have deadlines, and pending work has rows with due times.
  const onUnexpected = (error: unknown) => {
    unexpected.value++;
    if (started) return log.error({ error }, 'unexpected error');
    log.fatal({ error }, 'unexpected error at the start');
    flush();
    process.exit(1);
  };
  if (processes.length === 1) {
    process.on('uncaughtException', onUnexpected);
    process.on('unhandledRejection', onUnexpected);
  }

  const kit: Kit = {
    name,
    instance,
    log,
    metrics,
    ready: (part, check) => {
      checks.set(part, check);
      metrics.gauge(runtimeMetrics.process_ready, () => (check() ? 1 : 0), { check: part });
    },
    onStop: (part, stopPart) => stops.push({ name: part, stop: stopPart }),
    fail: (reason, error) => {
      log.fatal({ error }, reason);
      void end(reason, error instanceof ConfigError ? configExit : 1);
    },
  };
  const health = await startHealth({
    host: config.METRICS_HOST,
    port: config.METRICS_PORT,
    registry: metrics.registry,
    checks,
  });
  kit.onStop('health', () => health.close());
  kit.ready('started', () => started && stopping === undefined);
  try {
    await start(kit, config);
  } catch (error) {
    kit.fail('could not start', error);
    return;
  }
  started = true;
  log.info({ version, metricsUrl: health.url }, 'ready');
  process.send?.({ type: 'ready', metricsUrl: health.url });
};

/** One, or all of `deploy/bundle/together/main.ts`. */
const processes: { readonly stop: (reason: string) => Promise<void> }[] = [];
let ending: Promise<never> | undefined;

/** The last that started is the edge: it takes nothing new before those that it calls stop. */
const end = (reason: string, code: number): Promise<never> => {
  ending ??= (async () => {
    await processes.at(-1)?.stop(reason);
    await Promise.all(processes.map(({ stop }) => stop(reason)));
    process.exit(code);
  })();
  return ending;
};

/** EX_CONFIG in sysexits.h: restarting does not help. */
const configExit = 78;

type ReadyCheck = () => boolean;

interface HealthServer {
  readonly url: string;
  close(): Promise<void>;
}

/** `/healthz` (alive), `/readyz` (a 503 names what is missing) and `/metrics`, on a port of their own. */
const startHealth = async ({ host, port, registry, checks }: HealthOptions): Promise<HealthServer> => {
  const server = createServer(async (request, response) => {
    const answer = (status: number, type: string, body: string) =>
      response.writeHead(status, { 'Content-Type': type }).end(body);
    switch (request.url) {
      case '/healthz':
        return answer(200, 'text/plain', 'ok\n');
      case '/readyz': {
        const missing = [...checks].filter(([, check]) => !check()).map(([name]) => name);
        return missing.length === 0
          ? answer(200, 'text/plain', 'ready\n')
          : answer(503, 'text/plain', `not ready: ${missing.join(', ')}\n`);
      }
      case '/metrics':
        return answer(200, registry.contentType, await scrape(registry));
      default:
        return answer(404, 'text/plain', 'not found\n');
    }
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host}:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

interface HealthOptions {
  readonly host: string;
  readonly port: number;
  readonly registry: Registry;
  readonly checks: ReadonlyMap<string, ReadyCheck>;
}
