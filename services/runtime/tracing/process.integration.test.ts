import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startCollector } from '../testing/collector.ts';

interface Started {
  readonly child: ChildProcess;
  /** Modules of OpenTelemetry's SDK that the process has loaded. */
  readonly loaded: readonly string[];
}

const start = async (env: NodeJS.ProcessEnv): Promise<Started> => {
  const child = fork(join(import.meta.dirname, 'fixtures/main.ts'), { env, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [{ loaded }] = (await once(child, 'message')) as [{ loaded: string[] }];
  return { child, loaded };
};

const end = async (child: ChildProcess): Promise<number> => {
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  return code;
};

test.each([{}, { OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_TRACES_SAMPLER: 'always_on' }])(
  'a process without an endpoint (%j) loads nothing of the SDK',
  async (env) => {
    const { child, loaded } = await start(env);
    expect(loaded).toEqual([]);
    expect(await end(child)).toBe(0);
  },
);

test('a process with an endpoint sends its spans under its name before it ends', async () => {
  const collector = await startCollector();
  const { child, loaded } = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=one,authorization=Bearer%20abc%3D',
    INSTANCE: 'fixture-7',
  });
  expect(loaded).not.toEqual([]);
  expect(await end(child)).toBe(0);
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
    const { child } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, DRAIN_TIMEOUT_MS: '8000' });
    expect(await end(child)).toBe(0);
  },
);

test.each([
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
  { OTEL_EXPORTER_OTLP_HEADERS: 'no pairs' },
  { OTEL_TRACES_SAMPLER: 'sometimes' },
  { OTEL_TRACES_SAMPLER_ARG: '1.5' },
])('a process does not start with %j', async (env) => {
  const child = fork(join(import.meta.dirname, 'fixtures/main.ts'), { env, stdio: 'pipe' });
  let words = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    words += text;
  });
  const [code] = await once(child, 'close');
  expect({ code, words }).toEqual({ code: 78, words: expect.stringContaining(Object.keys(env)[0]!) });
});
