import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testProcess } from '../testing/process.ts';
import { startCollector } from '../testing/test-collector.ts';

const entry = join(import.meta.dirname, 'testing/main.ts');

const start = async (env: NodeJS.ProcessEnv) => {
  const { report, stop } = await testProcess<{ readonly loaded: readonly string[] }>({ entry, env });
  return { loaded: report.loaded, stop };
};

test.each([{}, { OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_TRACES_SAMPLER: 'always_on' }])(
  'a process without an endpoint (%j) loads nothing of the SDK',
  async (env) => {
    const { stop, loaded } = await start(env);
    expect(loaded).toEqual([]);
    expect(await stop()).toBe(0);
  },
);

test('a process with an endpoint sends its spans under its name before it ends', async () => {
  const collector = await startCollector();
  const { stop, loaded } = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=one,authorization=Bearer%20abc%3D',
    INSTANCE: 'fixture-7',
  });
  expect(loaded).not.toEqual([]);
  expect(await stop()).toBe(0);
  expect(collector.spans).toMatchObject([
    {
      name: 'started',
      parentSpanId: '',
      resource: {
        'service.name': 'fixture',
        'service.namespace': 'causeway',
        'service.instance.id': 'fixture-7',
        'service.version': expect.stringMatching(/^\d+\.\d+\.\d+$/),
      },
    },
  ]);
  expect(collector.requests).toMatchObject([{ 'x-tenant': 'one', authorization: 'Bearer abc=' }]);
});

test.each(['refuse', 'hang'] as const)(
  'a process stops cleanly while its collector does this to spans: %s',
  async (how) => {
    const collector = await startCollector();
    collector.behave(how);
    const { stop } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, DRAIN_TIMEOUT_MS: '8000' });
    expect(await stop()).toBe(0);
  },
);

test('a process does not start with invalid settings, and names each', async () => {
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'no pairs',
    OTEL_TRACES_SAMPLER: 'sometimes',
    OTEL_TRACES_SAMPLER_ARG: '1.5',
  };
  const error = (await testProcess({ entry, env }).catch((error) => error)) as Error;
  expect(error.message).toContain('ended (78):');
  for (const name of Object.keys(env)) expect(error.message).toContain(`${name}: `);
});
