import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** A plain number on the hot path; Prometheus reads it when it scrapes. */
export interface Cell {
  value: number;
}

/** A counter with labels. Keep the cell and add to its value, so that an increment costs one addition. */
export interface CounterFamily {
  cell(...labelValues: readonly string[]): Cell;
}

export interface Metrics {
  readonly registry: Registry;
  counter(name: string, help: string, labelNames?: readonly string[]): CounterFamily;
  /** Read when scraped. The same name with other labels adds a series; with the same labels, its value is added. */
  gauge(name: string, help: string, read: () => number, labels?: Readonly<Record<string, string>>): void;
  /** A histogram in seconds, as Prometheus expects. `observe` takes milliseconds. */
  timing(name: string, help: string): Timing;
}

export interface Timing {
  observe(elapsedMs: number): void;
}

const bucketsSeconds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * One registry per process or test; prom-client's global registry is not used. The same name returns the same metric.
 */
export const createMetrics = ({ defaults = false } = {}): Metrics => {
  const registry = new Registry();
  if (defaults) collectDefaultMetrics({ register: registry });
  const counters = new Map<string, CounterFamily>();
  const gauges = new Map<string, Series[]>();
  const timings = new Map<string, Timing>();
  return {
    registry,
    counter: (name, help, labelNames = []) =>
      once(counters, name, () => counter(registry, name, help, labelNames)),
    gauge: (name, help, read, labels = {}) => {
      once(gauges, name, () => gauge(registry, name, help, Object.keys(labels))).push({ read, labels });
    },
    timing: (name, help) =>
      once(timings, name, () => {
        const histogram = new Histogram({ name, help, buckets: bucketsSeconds, registers: [registry] });
        return { observe: (elapsedMs) => histogram.observe(elapsedMs / 1000) };
      }),
  };
};

/** Metrics that discard everything, for tests and programs without `/metrics`. */
export const noMetrics: Metrics = {
  registry: new Registry(),
  counter: () => ({ cell: () => ({ value: 0 }) }),
  gauge: () => {},
  timing: () => ({ observe: () => {} }),
};

const once = <Value>(known: Map<string, Value>, name: string, make: () => Value): Value => {
  const value = known.get(name) ?? make();
  known.set(name, value);
  return value;
};

const counter = (
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[],
): CounterFamily => {
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
    cell: (...labelValues) =>
      once(cells, labelValues.join('\0'), () => ({
        labels: Object.fromEntries(labelNames.map((label, at) => [label, labelValues[at] ?? ''])),
        value: 0,
      })),
  };
};

const gauge = (registry: Registry, name: string, help: string, labelNames: string[]): Series[] => {
  const series: Series[] = [];
  new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const { read, labels } of series) this.inc(labels, read());
    },
  });
  return series;
};

interface Series {
  readonly read: () => number;
  readonly labels: Readonly<Record<string, string>>;
}
