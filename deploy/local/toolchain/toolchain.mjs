import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasApt, machines, unpackDebian } from './debian.mjs';
import { withLock } from './lock.mjs';
import { baseNode, glibcVersion, isNewEnough, packagedNode, patchedNode } from './node.mjs';
import { onPath, run } from './run.mjs';
import { SetupError } from './terminal.mjs';

/** Increment this when the toolchain is built differently. */
const recipe = 1;

/**
 * @returns the path of a JSON file `{node, mysqld: {command, args, baseDir, messagesDir} | null, natsServer:
 * {command, args} | null}`. A server is null if the environment names one to use instead.
 */
export async function ensureToolchain(root, cache, external) {
  const mysqldOnPath = external.mysql ? null : onPath('mysqld');
  const natsOnPath = external.nats ? null : onPath('nats-server');
  const file = join(cache, `toolchain-${key(root, cache, external, mysqldOnPath, natsOnPath)}.json`);
  if (complete(file)) return file;

  return withLock(join(cache, 'locks', 'toolchain'), async () => {
    if (complete(file)) return file;
    const toolchain = await make(root, cache, external, mysqldOnPath, natsOnPath);
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(toolchain, null, 2));
    renameSync(`${file}.${process.pid}`, file);
    return file;
  });
}

async function make(root, cache, external, mysqldOnPath, natsOnPath) {
  const glibc = await glibcVersion();
  const ownMysqld = mysqldOnPath !== null && (await isMysqlNewEnough(mysqldOnPath));
  const ownNats = natsOnPath !== null && (await isNatsNewEnough(natsOnPath));
  const needs = {
    node: !isNewEnough(glibc),
    mysqld: !external.mysql && !ownMysqld,
    natsServer: !external.nats && !ownNats,
  };
  const packages = packagesFor(needs);
  const folderOf = (names) => join(cache, `debian-${short(`${recipe} ${process.arch} ${names}`)}`);
  // If an earlier run unpacked both servers, use that folder even when one of them is not needed now.
  const everything = folderOf(packagesFor({ node: needs.node, mysqld: true, natsServer: true }));
  const debian = existsSync(everything) ? everything : folderOf(packages);
  if (packages.length > 0 && !existsSync(debian)) {
    if (!hasApt()) throw new SetupError(withoutApt(needs));
    mkdirSync(cache, { recursive: true });
    await unpackDebian({ packages, target: debian, work: join(cache, 'downloads') });
  }

  const base = baseNode(root);
  const target = join(cache, `node-${base.version}-${short(debian)}`);
  return {
    node: needs.node ? await patchedNode({ source: base.file, target, libraries: debian }) : base.file,
    mysqld: external.mysql ? null : needs.mysqld ? mysqldFrom(debian) : mysqldInstalled(mysqldOnPath),
    natsServer: external.nats
      ? null
      : { command: needs.natsServer ? join(debian, 'usr/sbin/nats-server') : natsOnPath, args: [] },
  };
}

const packagesFor = ({ node, mysqld, natsServer }) => [
  ...(node ? ['libc6', 'libstdc++6', 'libgcc-s1'] : []),
  ...(mysqld ? ['mysql-server-core'] : []),
  ...(natsServer ? ['nats-server'] : []),
];

function mysqldFrom(debian) {
  const { triplet, loader } = machines[process.arch];
  const lib = join(debian, 'usr/lib', triplet);
  return {
    command: join(lib, loader),
    args: ['--library-path', lib, join(debian, 'usr/sbin/mysqld')],
    baseDir: join(debian, 'usr'),
    messagesDir: join(debian, 'usr/share/mysql'),
  };
}

const mysqldInstalled = (file) => ({ command: file, args: [], baseDir: null, messagesDir: null });

async function isMysqlNewEnough(file) {
  const text = await run(file, ['--version']).catch(() => '');
  const match = /Ver (\d+)\.(\d+)/.exec(text);
  if (!match || /MariaDB/i.test(text)) return false;
  return Number(match[1]) > 8 || (Number(match[1]) === 8 && Number(match[2]) >= 4);
}

/** Counter streams could corrupt a committed total before 2.12.12 and 2.14.3. */
async function isNatsNewEnough(file) {
  const match = /v(\d+)\.(\d+)\.(\d+)/.exec(await run(file, ['--version']).catch(() => ''));
  if (!match) return false;
  const [major, minor, patch] = match.slice(1).map(Number);
  if (major !== 2) return major > 2;
  return minor > 14 || (minor === 14 && patch >= 3) || (minor === 12 && patch >= 12);
}

function withoutApt(needs) {
  const missing = [
    ...(needs.node ? ['a GNU C library of 2.38 or newer (Debian 13, Ubuntu 24.04, Fedora 39 …)'] : []),
    ...(needs.mysqld ? ['MySQL 8.4 or newer (`mysqld` on PATH, or MYSQL_URL)'] : []),
    ...(needs.natsServer ? ['nats-server 2.14.3 or newer (on PATH, or NATS_URL)'] : []),
  ];
  return `This system has no apt to fetch what is missing: please provide ${missing.join(' and ')}.`;
}

function complete(file) {
  if (!existsSync(file)) return false;
  const { node, mysqld, natsServer } = JSON.parse(readFileSync(file, 'utf8'));
  return [node, mysqld?.command, natsServer?.command].every((path) => path === undefined || existsSync(path));
}

function key(root, cache, external, ...programs) {
  const stamp = (file) =>
    file === null ? 'none' : `${file} ${statSync(file).mtimeMs} ${statSync(file).size}`;
  const node = stamp(existsSync(packagedNode(root)) ? packagedNode(root) : null);
  return short(
    [
      recipe,
      process.execPath,
      process.version,
      process.arch,
      cache,
      node,
      JSON.stringify(external),
      ...programs.map(stamp),
    ].join('\n'),
  );
}

const short = (text) => createHash('sha256').update(text).digest('hex').slice(0, 12);
