import { expect, test } from 'vitest';
import { declareMetrics } from './declare-metrics.ts';
import { createMetrics } from './metrics.ts';

const declared = declareMetrics({
  calls_total: { type: 'counter', help: 'Calls', labels: ['lane', 'code'] },
  open_calls: { type: 'gauge', help: 'Open calls', labels: ['lane'] },
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
