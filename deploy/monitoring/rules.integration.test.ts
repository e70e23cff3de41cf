import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanUp } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { judgeAlerts, promtool, readYaml, say } from './testing/alerts.ts';

test('Prometheus accepts the rules', () => {
  const { status, words } = say('check', 'rules', 'rules.yaml');
  expect(words).toMatch(/SUCCESS: \d\d rules found/);
  expect(status).toBe(0);
});

test('Prometheus accepts its configuration', () => {
  const { status, words } = say('check', 'config', '--syntax-only', 'prometheus.yaml');
  expect(words).toMatch(/SUCCESS/);
  expect(status).toBe(0);
});

// A real Prometheus never evaluates at the moment of its samples, and `rate` and `increase` extrapolate what lies between.
test('every alert fires for its samples, and for no others, evaluated every 11s', () => judgeAlerts('11s'));

const instances = ['a', 'b'].map((instance) => `instance="${instance}"`);

test.each([
  { state: 'one receiver is slow', inFlight: 32, late: 0, dispatchers: 1 },
  { state: 'a backlog waits for slots', inFlight: 500, late: 400, dispatchers: 6 },
  { state: 'queues are late, and few slots are in use', inFlight: 20, late: 60, dispatchers: 2 },
])(
  'KEDA asks Prometheus for $dispatchers of two dispatchers when $state',
  ({ inFlight, late, dispatchers }) => {
    const { spec } = readYaml('../k8s/components/keda/dispatcher.yaml') as ScaledObject;
    const { type, metadata } = spec.triggers[0]!;
    expect(type).toBe('prometheus');
    const folder = mkdtempSync(join(tmpdir(), 'causeway-keda-'));
    cleanUp(() => rmSync(folder, { recursive: true }));
    const input_series = instances.flatMap((instance) => [
      { series: `dispatcher_attempts_in_flight{${instance}}`, values: `${inFlight}x8` },
      { series: `dispatcher_slots{${instance}}`, values: '512x8' },
      { series: `dispatcher_late_queues{${instance}}`, values: `${late}x8` },
    ]);
    // As the autoscaler does: the value over the threshold, rounded up.
    const expr = `ceil((${metadata.query}) / ${metadata.threshold})`;
    const exp_samples = [{ labels: '{}', value: dispatchers }];
    const file = join(folder, 'keda.test.yaml');
    writeFileSync(
      file,
      JSON.stringify({
        tests: [
          { interval: '15s', input_series, promql_expr_test: [{ expr, eval_time: '1m', exp_samples }] },
        ],
      }),
    );
    expect(say('test', 'rules', file)).toMatchObject({ status: 0 });
  },
);

interface ScaledObject {
  readonly spec: {
    readonly triggers: readonly {
      readonly type: string;
      readonly metadata: Readonly<Record<string, string>>;
    }[];
  };
}

test('Prometheus can parse every expression of the dashboard', () => {
  const { panels } = JSON.parse(
    readFileSync(join(import.meta.dirname, 'dashboards/causeway.json'), 'utf8'),
  ) as {
    panels: { title: string; targets?: { expr: string }[] }[];
  };
  // Written as rules, so that one run of the tool parses them all.
  const rules = panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')),
  );
  expect(rules.length).toBeGreaterThan(20);
  const named = rules.map((expr, at) => ({ record: `panel:${at}`, expr }));
  const { status, stdout, stderr } = spawnSync(promtool.command, [...promtool.args, 'check', 'rules'], {
    input: JSON.stringify({ groups: [{ name: 'dashboard', rules: named }] }),
    encoding: 'utf8',
  });
  expect(`${stdout}${stderr}`).toMatch(new RegExp(`SUCCESS: ${rules.length} rules found`));
  expect(status).toBe(0);
});
