import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import {
  type Link,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import type { TracingConfig } from '../config.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { runtimeMetrics } from '../runtime-metrics.ts';
import { formatTraceparent, traceparentParts } from '../trace.ts';
import type { Span, SpanOptions, Tracer } from './tracer.ts';

export const createTracer = (config: TracingConfig & ExportTarget, options: TracingOptions): Tracer => {
  const provider = new BasicTracerProvider({
    sampler: samplerOf(config),
    resource: resourceFromAttributes({
      'service.namespace': 'causeway',
      'service.name': options.name,
      'service.instance.id': options.instance,
      'service.version': version(),
    }),
    spanProcessors: [createExport(config, options)],
  });
  const otel = provider.getTracer('causeway');
  const followsParents = config.OTEL_TRACES_SAMPLER.startsWith('parentbased_');
  const current = new AsyncLocalStorage<readonly Span[]>();
  const run: Tracer['run'] = (spans, work) => current.run(spans, work);

  const start: Tracer['start'] = (name, { kind, parents, root = false, attributes }) => {
    const contexts = parents.map(contextOf).filter((context) => context !== undefined);
    const sampled = contexts.filter(({ traceFlags }) => (traceFlags & 1) === 1);
    const parent = sampled[0] ?? contexts[0];
    if (!parent && !root) return undefined;
    if (parent && sampled.length === 0 && followsParents) return undefined;
    const raw = otel.startSpan(
      name,
      {
        kind: kinds[kind],
        links: sampled.slice(1).map((context): Link => ({ context })),
        ...(attributes && { attributes }),
      },
      parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT,
    );
    if (!raw.isRecording()) return undefined;
    const span = spanOf(raw, run);
    for (const one of parents)
      if (typeof one === 'object' && contextOf(one) !== parent)
        rawOf(one).addLink({ context: raw.spanContext() });
    return span;
  };

  return {
    start,
    active: () => current.getStore()?.filter(({ open }) => open) ?? [],
    run,
    close: async () => {
      const late = new Promise<void>((done) => setTimeout(done, closeTimeoutMs).unref());
      await Promise.race([provider.shutdown().catch(() => {}), late]);
    },
  };
};

interface TracingOptions {
  readonly name: string;
  readonly instance: string;
  readonly log: Log;
  readonly metrics: Metrics;
}

const closeTimeoutMs = 3_000;

const kinds: Readonly<Record<SpanOptions['kind'], SpanKind>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

interface RecordedSpan extends Span {
  readonly raw: OtelSpan;
}

const rawOf = (span: Span): OtelSpan => (span as RecordedSpan).raw;

const contextOf = (parent: Span | string | undefined): SpanContext | undefined => {
  if (parent === undefined) return undefined;
  if (typeof parent === 'object') return rawOf(parent).spanContext();
  const parts = traceparentParts(parent);
  return parts && { traceId: parts.traceId, spanId: parts.spanId, traceFlags: parts.flags, isRemote: true };
};

const spanOf = (raw: OtelSpan, run: Tracer['run']): RecordedSpan => {
  const { traceId, spanId, traceFlags } = raw.spanContext();
  let open = true;
  const span: RecordedSpan = {
    raw,
    traceparent: formatTraceparent({ traceId, spanId, flags: traceFlags }),
    get open() {
      return open;
    },
    set: (attributes) => void raw.setAttributes(attributes),
    rename: (name) => void raw.updateName(name),
    fail: (type) => void raw.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', type),
    end: () => {
      if (!open) return;
      open = false;
      raw.end();
    },
    run: (work) => run([span], work),
  };
  return span;
};

const samplerOf = ({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: TracingConfig): Sampler => {
  const kind = name.replace('parentbased_', '');
  const root =
    kind === 'always_on'
      ? new AlwaysOnSampler()
      : kind === 'always_off'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio);
  return kind === name ? root : new ParentBasedSampler({ root });
};

const version = (): string =>
  (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string })
    .version;

/**
 * Beyond a bounded buffer spans are dropped and counted, so that an unreachable collector costs no request.
 */
const createExport = (
  { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers }: ExportTarget,
  { log, metrics }: TracingOptions,
): SpanProcessor => {
  const dropped = metrics.counter(runtimeMetrics.traces_spans_dropped_total);
  const [full, failed] = [dropped.cell('queue_full'), dropped.cell('export_failed')];
  let waiting = 0;
  let failing = false;

  const otlp = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: exportTimeoutMs,
    ...(headers && { headers }),
  });
  const exporter: SpanExporter = {
    export: (spans, done) =>
      otlp.export(spans, (result) => {
        waiting -= spans.length;
        const taken = result.code === 0;
        if (!taken) failed.value += spans.length;
        if (failing === taken) {
          failing = !taken;
          if (failing) log.warn({ error: result.error }, 'collector refuses spans; spans dropped');
          else log.info('collector accepts spans again');
        }
        done(result);
      }),
    shutdown: () => otlp.shutdown(),
  };
  const batches = new BatchSpanProcessor(exporter, {
    maxQueueSize: maxWaiting,
    maxExportBatchSize: batchSize,
    scheduledDelayMillis: delayMs,
    exportTimeoutMillis: exportTimeoutMs,
  });
  return {
    onStart: () => {},
    onEnd: (span) => {
      if (waiting >= maxWaiting) {
        full.value++;
        return;
      }
      waiting++;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
};

const maxWaiting = 4_096;
/** Writing this many as JSON takes about two milliseconds of the event loop. */
const batchSize = 256;
const delayMs = 1_000;
const exportTimeoutMs = 10_000;

interface ExportTarget {
  readonly OTEL_EXPORTER_OTLP_ENDPOINT: string;
  readonly OTEL_EXPORTER_OTLP_HEADERS?: Record<string, string> | undefined;
}
