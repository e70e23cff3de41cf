import { chmodSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { cleanUp } from '@causeway/runtime/testing';
import { expect, test, vi } from 'vitest';
import { findProgram } from './local/toolchain/versions.mjs';

const versions = JSON.parse(readFileSync(join(import.meta.dirname, 'versions.json'), 'utf8'));
const programs: Readonly<Record<string, string>> = {
  mysql: 'mysqld',
  nats: 'nats-server',
  'prom/prometheus': 'prometheus',
  'prom/alertmanager': 'alertmanager',
  'prom/mysqld-exporter': 'prometheus-mysqld-exporter',
  'prom/node-exporter': 'prometheus-node-exporter',
  'prom/blackbox-exporter': 'prometheus-blackbox-exporter',
};

test('the manifests and compose run the servers that tests run', () => {
  const files = globSync(['compose.yaml', 'k8s/**/*.yaml'], { cwd: import.meta.dirname });
  const images = files.flatMap((file) => {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8');
    return [...text.matchAll(/image: (\S+?):v?([\d.]+)/g)].map(([, image = '', version]) => ({
      file,
      program: programs[image],
      version,
    }));
  });
  const servers = images.filter(({ program }) => program);
  expect(new Set(servers.map(({ program }) => program)).size).toBe(Object.keys(programs).length);
  expect(servers).toEqual(servers.map((server) => ({ ...server, version: versions[server.program!] })));
});

const says = {
  mysqld: 'printf "%s  Ver 8.4.6 for Linux" "$0"',
  'nats-server': 'echo "nats-server: v2.14.5"',
  promtool: 'echo "promtool, version 2.42.0+ds"',
  'docker-compose': 'echo "docker-compose version 1.29.2, build unknown"',
  chromium: 'echo "Chromium 109.0.5414.119"',
  mysqldump: 'echo "mysqldump  Ver 10.19 Distrib 10.11.6-MariaDB"',
};
const right: Readonly<Record<string, string>> = {
  mysqld: 'printf "%s  Ver 9.7.9 for Linux" "$0"',
  'nats-server': 'echo "nats-server: v2.15.0"',
  promtool: 'echo "promtool, version 3.5.0 (branch: HEAD)"',
  'docker-compose': 'echo "Docker Compose version v5.0.1"',
  chromium: 'echo "Chromium 156.0.8078.108"',
  mysqldump: 'echo "mysqldump  Ver 9.7.4 for Linux"',
};

test.each(Object.entries(says))('a %s of another version on PATH is passed over', async (name, other) => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-versions-'));
  cleanUp(() => rmSync(folder, { recursive: true }));
  const path = [other, 'exit 1', right[name]].map((script, at) => {
    // The numbers of a folder are no version.
    const place = join(folder, `9.7-2.15-3.5-${at}`);
    mkdirSync(place);
    writeFileSync(join(place, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(place, name), 0o755);
    return place;
  });
  vi.stubEnv('PATH', path.slice(0, 2).join(delimiter));
  expect(await findProgram(name)).toBeNull();
  vi.stubEnv('PATH', [...path, process.env.PATH].join(delimiter));
  expect(await findProgram(name)).toBe(join(path[2]!, name));
  vi.unstubAllEnvs();
});
