import { expect, test } from 'vitest';
import { createMeasurement } from './measurement.ts';
import { createMetrics, declareMetrics } from './metrics.ts';

const declared = declareMetrics({
  calls_total: { type: 'counter', help: 'Calls', labels: ['lane', 'code'] },
  open_calls: { type: 'gauge', help: 'Open calls', labels: ['lane'] },
  oldest_seconds: { type: 'gauge', help: 'Age' },
  starts_total: { type: 'counter', help: 'Starts' },
  call_seconds: { type: 'histogram', help: 'Duration of calls' },
});

test('the registry exports metrics as they are declared', async () => {
  const metrics = createMetrics();
  metrics.counter(declared.calls_total).cell('crm', 'timeout').value += 2;
  metrics.counter(declared.calls_total).cell('crm', 'timeout').value++;
  metrics.counter(declared.starts_total).cell().value++;
  metrics.gauge(declared.open_calls, () => 4, { lane: 'crm' });
  metrics.gauge(declared.open_calls, () => 1, { lane: 'crm' });
  metrics.timing(declared.call_seconds).observe(20);
  const text = await metrics.registry.metrics();
  for (const line of [
    '# HELP calls_total Calls',
    '# TYPE calls_total counter',
    'calls_total{lane="crm",code="timeout"} 3',
    'starts_total 1',
    '# TYPE open_calls gauge',
    'open_calls{lane="crm"} 5',
    '# TYPE call_seconds histogram',
    'call_seconds_bucket{le="0.025"} 1',
    'call_seconds_sum 0.02',
  ])
    expect(text.split('\n')).toContain(line);
});

test('a gauge whose value is unknown is left out', async () => {
  const metrics = createMetrics();
  let known: number | undefined = 7;
  metrics.gauge(declared.oldest_seconds, () => known);
  expect(await metrics.registry.metrics()).toContain('\noldest_seconds 7\n');
  known = undefined;
  expect(await metrics.registry.metrics()).not.toMatch(/^oldest_seconds/m);
});

test('a measurement is unknown before its first result and from its maximum age on', () => {
  let nowMs = 5;
  const measurement = createMeasurement<number>(100, () => nowMs);
  expect(measurement.read()).toBeUndefined();
  measurement.set(0);
  nowMs += 99;
  expect(measurement.read()).toBe(0);
  nowMs += 1;
  expect(measurement.read()).toBeUndefined();
});

// `npm run typecheck` fails if one of these is no longer an error.
export const typeErrors = (metrics = createMetrics()): void => {
  // @ts-expect-error: no such metric.
  metrics.counter(declared.nonesuch_total);
  // @ts-expect-error: not declared.
  metrics.counter({ name: 'x_total', type: 'counter', help: 'X', labels: [] });
  // @ts-expect-error: a gauge is no counter.
  metrics.counter(declared.open_calls);
  // @ts-expect-error: a value for each label.
  metrics.counter(declared.calls_total).cell('crm');
  // @ts-expect-error: a value for each label.
  metrics.gauge(declared.open_calls, () => 0);
};
