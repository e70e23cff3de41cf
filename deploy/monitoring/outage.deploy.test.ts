import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readEnv } from '@causeway/runtime';
import { cleanUp, startProgram } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { temporary } from '../data/testing/cluster.ts';
import { readStack, type Stack } from '../local/home.ts';
import { freePort } from '../local/ports.ts';
import { openCluster } from '../local/testing/open-cluster.ts';
import { providePrograms } from '../local/toolchain/provide.mjs';

const env = readEnv();
const monitoring = import.meta.dirname;
/** What the guide promises. */
const pageWithinMs = 180_000;

const { prometheus } = await providePrograms(dirname(env.CAUSEWAY_TOOLCHAIN ?? ''), {
  prometheus: 'prometheus',
});

const openHome = async (): Promise<Stack> => {
  const home = temporary('rehearsal');
  const { MYSQL_URL: _, NATS_URL: __, ...own } = env;
  const cluster = await openCluster({ home, env: own });
  cleanUp(() => cluster.stop());
  // Here agents start at the first call.
  const { baseUrl, apiKey } = cluster.stack;
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  await fetch(`${baseUrl}/mcp`, { method: 'POST', headers: { 'X-Api-Key': apiKey }, body });
  return readStack(home)!;
};

/** Prometheus with the rules and intervals of production; only its targets are those of the cluster. */
const watch = async ({ processes }: Stack) => {
  const folder = temporary('prometheus');
  mkdirSync(join(folder, 'data'));
  copyFileSync(join(monitoring, 'rules.yaml'), join(folder, 'rules.yaml'));
  const { global } = parse(readFileSync(join(monitoring, 'prometheus.yaml'), 'utf8')) as { global: object };
  const targets = processes.flatMap(({ name, metricsUrl }) =>
    metricsUrl
      ? [
          {
            targets: [new URL(metricsUrl).host],
            labels: { service: name.replace(/-\d+$/, ''), instance: name },
          },
        ]
      : [],
  );
  expect(targets.length).toBeGreaterThan(4);
  const config = {
    global,
    rule_files: ['rules.yaml'],
    scrape_configs: [{ job_name: 'causeway', static_configs: targets }],
  };
  writeFileSync(join(folder, 'prometheus.yaml'), stringify(config));
  const port = await freePort();
  const { command, args } = prometheus;
  const { end } = startProgram(
    command,
    [
      ...args,
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  cleanUp(async () => void (await end('SIGKILL')));
  return async (): Promise<readonly string[]> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/alerts`);
    const { data } = (await answer.json()) as {
      data: { alerts: { state: string; labels: { alertname: string; severity: string } }[] };
    };
    return [
      ...new Set(
        data.alerts
          .filter(({ state, labels }) => state === 'firing' && labels.severity === 'page')
          .map(({ labels }) => labels.alertname),
      ),
    ].sort();
  };
};

test('a page comes within three minutes after NATS freezes, and after MySQL does, without any traffic', {
  timeout: 1_800_000,
}, async () => {
  const stack = await openHome();
  const pages = await watch(stack);
  // Long enough for every page that a healthy cluster would raise by mistake.
  await sleep(150_000);
  expect(await pages()).toEqual([]);

  for (const name of ['nats', 'mysql']) {
    const pid = stack.processes.find((one) => one.name === name || one.name.startsWith(`${name}-`))?.pid;
    if (!pid) throw new Error(`no process ${name}`);
    const frozenMs = performance.now();
    process.kill(pid, 'SIGSTOP');
    try {
      let raised: readonly string[] = [];
      while (raised.length === 0 && performance.now() - frozenMs < pageWithinMs) {
        // As often as Prometheus evaluates its rules.
        await sleep(1_000);
        raised = await pages();
      }
      const afterS = Math.round((performance.now() - frozenMs) / 1000);
      process.stdout.write(`${name} frozen: ${raised.join(', ') || 'no page'} after ${afterS} s\n`);
      expect(raised).not.toEqual([]);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await expect.poll(pages, { timeout: 600_000, interval: 2_000 }).toEqual([]);
  }
});
