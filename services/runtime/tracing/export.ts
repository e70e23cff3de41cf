import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BatchSpanProcessor, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { runtimeMetrics } from '../runtime-metrics.ts';
import type { TracingOptions } from './open.ts';

/**
 * Sends finished spans in batches, in the background. The buffer is bounded: further spans are dropped and counted,
 * so that a slow or unreachable collector costs spans, never a request.
 */
export const createExport = (
  { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers }: ExportTarget,
  { log, metrics }: TracingOptions,
): SpanProcessor => {
  const exported = metrics.counter(runtimeMetrics.traces_spans_exported_total).cell();
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
        (taken ? exported : failed).value += spans.length;
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
    // Never reached: this class limits waiting and sent spans itself.
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
/** Writing a batch as JSON takes the event loop's time: this many take about two milliseconds. */
const batchSize = 256;
const delayMs = 1_000;
const exportTimeoutMs = 10_000;

interface ExportTarget {
  readonly OTEL_EXPORTER_OTLP_ENDPOINT: string;
  readonly OTEL_EXPORTER_OTLP_HEADERS?: Record<string, string> | undefined;
}
