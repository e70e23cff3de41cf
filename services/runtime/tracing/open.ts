import { z } from 'zod';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
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

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** `name=value,name=value`, the values percent-encoded: the W3C Baggage format that OpenTelemetry takes. */
const parseHeaders = (text: string): Record<string, string> | undefined => {
  const pairs = text.split(',').map((pair) => /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(pair));
  try {
    return Object.fromEntries(pairs.map((match) => [match![1]!, decodeURIComponent(match![2]!)]));
  } catch {
    return undefined;
  }
};

/**
 * Tracing settings, with the names of OpenTelemetry's specification
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).
 */
export const tracingConfig = {
  /** The OTLP endpoint for spans, over HTTP with the path `/v1/traces`. Without it there are no traces. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://' })
    .optional(),
  /** Headers to send with spans: `name=value,name=value`. */
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .transform((text, context) => {
      const headers = parseHeaders(text);
      if (headers) return headers;
      context.issues.push({ code: 'custom', input: '', message: 'must be name=value,name=value' });
      return z.NEVER;
    })
    .optional(),
  /** Which requests are traced. `parentbased_…` follows the `traceparent` of the caller, if there is one. */
  OTEL_TRACES_SAMPLER: z.enum(samplers).default('parentbased_always_on'),
  /** The share of requests that the `…traceidratio` samplers trace. */
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .transform(Number)
    .refine((ratio) => ratio >= 0 && ratio <= 1, 'must be a number from 0 to 1')
    .default(1),
} as const;

export type TracingConfig = z.output<z.ZodObject<typeof tracingConfig>>;
