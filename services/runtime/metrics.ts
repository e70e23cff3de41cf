import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface CounterCell {
  value: number;
}

interface CounterFamily<Labels extends readonly string[]> {
  cell(...labelValues: { readonly [At in keyof Labels]: string }): CounterCell;
}

export interface Metrics {
  readonly registry: Registry;
  counter<Labels extends readonly string[]>(metric: Metric<'counter', Labels>): CounterFamily<Labels>;
  /** Read when scraped; series with the same labels are added, and one that reads undefined is left out. */
  gauge<Labels extends readonly string[]>(
    metric: Metric<'gauge', Labels>,
    read: () => number | undefined,
    ...labels: Labels extends readonly [] ? [] : [Readonly<Record<Labels[number], string>>]
  ): void;
  /** In seconds, as Prometheus expects. `observe` takes milliseconds. */
  timing(metric: Metric<'histogram'>): Timing;
}

interface Timing {
  observe(elapsedMs: number): void;
}

/** Sampling every 10 ms, the default, takes 0.6 % of a core in a process that does nothing else; this takes 0.1 %. */
const eventLoopSampleMs = 50;

const bucketsSeconds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The numbers of the process itself are taken from the first scrape on: where nobody scrapes, the samples are for nothing. */
export const scrape = (registry: Registry): Promise<string> => {
  if (!registry.getSingleMetric('process_cpu_seconds_total')) {
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopSampleMs });
    // Gauges whose names end like counters'. The same numbers are in those without the ending.
    for (const what of ['handles', 'requests', 'resources'])
      registry.removeSingleMetric(`nodejs_active_${what}_total`);
  }
  return registry.metrics();
};

export const createMetrics = (): Metrics => {
  const registry = new Registry();
  const counters = new Map<string, CounterFamily<readonly string[]>>();
  const gauges = new Map<string, Series[]>();
  const timings = new Map<string, Timing>();
  return {
    registry,
    counter: (metric) => once(counters, metric.name, () => counter(registry, metric)),
    gauge: (metric, read, labels = {}) => {
      once(gauges, metric.name, () => gauge(registry, metric)).push({ read, labels });
    },
    timing: ({ name, help }) =>
      once(timings, name, () => {
        const histogram = new Histogram({ name, help, buckets: bucketsSeconds, registers: [registry] });
        return { observe: (elapsedMs) => histogram.observe(elapsedMs / 1000) };
      }),
  };
};

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
  { name, help, labels: labelNames }: Metric<'counter'>,
): CounterFamily<readonly string[]> => {
  const cells = new Map<string, CounterCell & { readonly labels: Record<string, string> }>();
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

const gauge = (registry: Registry, { name, help, labels: labelNames }: Metric<'gauge'>): Series[] => {
  const series: Series[] = [];
  new Gauge({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      this.reset();
      if (labelNames.length === 0) this.remove();
      for (const { read, labels } of series) {
        const value = read();
        if (value !== undefined) this.inc(labels, value);
      }
    },
  });
  return series;
};

interface Series {
  readonly read: () => number | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

/** The tests of alerts and the dashboard read these declarations instead of a running process. */
export const declareMetrics = <const Declarations extends Readonly<Record<string, Declaration>>>(
  declarations: Declarations,
): Declared<Declarations> =>
  Object.fromEntries(
    Object.entries(declarations).map(([name, { type, help, labels = [] }]) => [
      name,
      { name, type, help, labels },
    ]),
  ) as unknown as Declared<Declarations>;

export interface Metric<
  Type extends MetricType = MetricType,
  Labels extends readonly string[] = readonly string[],
> {
  readonly name: string;
  readonly type: Type;
  readonly help: string;
  readonly labels: Labels;
  readonly [declared]: true;
}

declare const declared: unique symbol;

type MetricType = 'counter' | 'gauge' | 'histogram';

interface Declaration {
  readonly type: MetricType;
  readonly help: string;
  readonly labels?: readonly string[];
}

type Declared<Declarations extends Readonly<Record<string, Declaration>>> = {
  readonly [Name in keyof Declarations]: Metric<
    Declarations[Name]['type'],
    Declarations[Name] extends { readonly labels: infer Labels extends readonly string[] }
      ? Labels
      : readonly []
  >;
};
