import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { TracingConfig } from './config.ts';
import type { Tracer } from './tracer.ts';

/** Opens a tracer if traces are exported. Otherwise returns undefined without loading OpenTelemetry's SDK. */
export const openTracing = async (
  config: TracingConfig,
  options: TracingOptions,
): Promise<Tracer | undefined> => {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint) return undefined;
  const { createTracer } = await import('./sdk.ts');
  return createTracer({ ...config, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, options);
};

export interface TracingOptions {
  /** The service's name. */
  readonly name: string;
  readonly instance: string;
  readonly log: Log;
  readonly metrics: Metrics;
}
