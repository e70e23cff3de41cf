import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDiskFull, onPath, run } from './run.mjs';
import { SetupError, step } from './terminal.mjs';
import { archive } from './versions.mjs';

export const machines = {
  x64: { triplet: 'x86_64-linux-gnu', loader: 'ld-linux-x86-64.so.2' },
  arm64: { triplet: 'aarch64-linux-gnu', loader: 'ld-linux-aarch64.so.1' },
};

export const hasApt = () =>
  ['apt-get', 'apt-config', 'dpkg', 'dpkg-deb'].every((name) => onPath(name) !== null);

// mysqld and nats-server run without these; leaving them out saves a fifth of the download.
const notNeeded = ['perl', 'systemd-standalone-sysusers'];

/** Without root: apt runs on a private state and checks signatures with the system's keys. */
export async function unpackDebian({ packages, target }) {
  const work = `${target}.downloads`;
  try {
    const files = await step(
      `downloading ${packages
        .filter((name) => !name.startsWith('lib'))
        .join(', ')
        .replace(/=[\d.*]+/g, '')}`,
      () => download(packages, work),
    );
    await step('unpacking', () => unpack(files, target));
    rmSync(work, { recursive: true, force: true });
  } catch (error) {
    if (error instanceof SetupError) throw error;
    throw new SetupError(
      isDiskFull(error.output)
        ? `The disk is full: free about 700 MiB in ${work}, or point CAUSEWAY_CACHE at a larger disk.`
        : "Debian's packages could not be downloaded (apt's output is above); check the connection and run the " +
            'command again, or provide servers by MYSQL_URL and NATS_URL.',
      { cause: error.output ?? error.stack },
    );
  }
}

async function download(packages, work) {
  // Archives stay in place between runs: apt continues where a killed run stopped.
  for (const folder of ['state/lists/partial', 'cache/archives/partial', 'etc/conf.d']) {
    mkdirSync(join(work, folder), { recursive: true });
  }
  const stanza = (name) =>
    `Package: ${name}\nStatus: install ok installed\nVersion: 999\nArchitecture: all\nMulti-Arch: allowed\nMaintainer: none\nDescription: not needed\n`;
  writeFileSync(join(work, 'status'), notNeeded.map(stanza).join('\n'));
  writeFileSync(join(work, 'apt.conf'), await configuration(work));

  const env = {
    ...process.env,
    APT_CONFIG: join(work, 'apt.conf'),
    LC_ALL: 'C',
    DEBIAN_FRONTEND: 'noninteractive',
  };
  const fetch = async (source) => {
    writeFileSync(join(work, 'sources.list'), `deb ${signedBy()}${source} sid main\n`);
    await run('apt-get', ['update', '-qq', '--error-on=any'], { env });
    await run(
      'apt-get',
      ['install', '-qq', '-y', '--download-only', '--no-install-recommends', ...packages],
      { env },
    );
  };
  const source = await mirror();
  const or = (other) => (error) => (isDiskFull(error.output) ? Promise.reject(error) : fetch(other));
  // A mirror in the middle of its update can serve an index whose files have moved. The archive has what a mirror has dropped.
  await fetch(source).catch(or(source)).catch(or(archive));
  const archives = join(work, 'cache/archives');
  return readdirSync(archives)
    .filter((name) => name.endsWith('.deb'))
    .map((name) => join(archives, name));
}

async function unpack(files, target) {
  const fresh = `${target}.partial`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  const queue = [...files];
  const worker = async () => {
    for (let file = queue.pop(); file !== undefined; file = queue.pop())
      await run('dpkg-deb', ['-x', file, fresh]);
  };
  await Promise.all([worker(), worker()]);
  rmSync(target, { recursive: true, force: true });
  renameSync(fresh, target);
}

async function mirror() {
  const uris = await run('apt-get', ['update', '--print-uris']);
  for (const [, base, suite] of uris.matchAll(/^'(\S+?)\/dists\/([^/']+)\/(?:In)?Release'/gm)) {
    if (/^[a-z]+$/.test(suite) && /\/debian$/.test(base)) return base;
  }
  throw new SetupError(
    "This system's apt names no Debian mirror to take MySQL and nats-server from: put `mysqld` and " +
      '`nats-server`, in the versions of deploy/versions.json, on PATH, or set MYSQL_URL and NATS_URL.',
  );
}

async function configuration(work) {
  const host = await run('apt-config', ['dump']);
  const kept = host.split('\n').filter((line) => /^Acquire::(?!IndexTargets|Languages)/.test(line));
  const environment = {
    Dir: '/',
    'Dir::State': join(work, 'state'),
    'Dir::State::status': join(work, 'status'),
    'Dir::Cache': join(work, 'cache'),
    'Dir::Etc': join(work, 'etc'),
    'Dir::Etc::parts': join(work, 'etc/conf.d'),
    'Dir::Etc::sourcelist': join(work, 'sources.list'),
    'Dir::Etc::trustedparts': '/etc/apt/trusted.gpg.d',
    'APT::Sandbox::User': process.getuid() === 0 ? 'root' : '',
    'Acquire::Languages': 'none',
    // Snapshot mirrors intentionally serve old indexes.
    'Acquire::Check-Valid-Until': 'false',
  };
  return [...kept, ...Object.entries(environment).map(([key, value]) => `${key} "${value}";`), ''].join('\n');
}

function signedBy() {
  const keyring = ['debian-archive-keyring.pgp', 'debian-archive-keyring.gpg']
    .map((name) => `/usr/share/keyrings/${name}`)
    .find(existsSync);
  return keyring === undefined ? '' : `[signed-by=${keyring}] `;
}
