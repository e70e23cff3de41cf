import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** A plain number on the hot path; Prometheus reads it when it scrapes. */
export interface Cell {
  value: number;
}

/** A counter with labels whose increments cost one addition: keep the cell, add to its value. */
export interface CounterFamily {
  cell(...labelValues: readonly string[]): Cell;
}

export interface Metrics {
  readonly registry: Registry;
  counter(name: string, help: string, labelNames?: readonly string[]): CounterFamily;
  /** Read when scraped. */
  gauge(name: string, help: string, read: () => number): void;
  /** In seconds, as Prometheus wants it; `observe` takes milliseconds, as JavaScript has them. */
  timing(
    name: string,
    help: string,
    bucketsSeconds?: readonly number[],
  ): { observe(elapsedMs: number): void };
}

const defaultBucketsSeconds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** One registry a process (or a test's part of one): nothing is shared through prom-client's global. */
export const createMetrics = ({ defaults = false } = {}): Metrics => {
  const registry = new Registry();
  if (defaults) collectDefaultMetrics({ register: registry });
  return {
    registry,
    counter: (name, help, labelNames = []) => {
      const cells = new Map<string, Cell & { readonly labels: Record<string, string> }>();
      new Counter({
        name,
        help,
        labelNames: [...labelNames],
        registers: [registry],
        collect() {
          this.reset();
          for (const { labels, value } of cells.values()) this.inc(labels, value);
        },
      });
      return {
        cell: (...labelValues) => {
          const key = labelValues.join('\0');
          const known = cells.get(key);
          if (known) return known;
          const labels = Object.fromEntries(labelNames.map((label, at) => [label, labelValues[at] ?? '']));
          const fresh = { labels, value: 0 };
          cells.set(key, fresh);
          return fresh;
        },
      };
    },
    gauge: (name, help, read) => {
      new Gauge({
        name,
        help,
        registers: [registry],
        collect() {
          this.set(read());
        },
      });
    },
    timing: (name, help, bucketsSeconds = defaultBucketsSeconds) => {
      const histogram = new Histogram({ name, help, buckets: [...bucketsSeconds], registers: [registry] });
      return { observe: (elapsedMs) => histogram.observe(elapsedMs / 1000) };
    },
  };
};
