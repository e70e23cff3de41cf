import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasApt, machines, unpackDebian } from './debian.mjs';
import { withLock } from './lock.mjs';
import { baseNode, glibcVersion, isNewEnough, packagedNode, patchedNode } from './node.mjs';
import { everyOnPath } from './run.mjs';
import { SetupError } from './terminal.mjs';
import { findProgram, pinned } from './versions.mjs';

/** Increment this when the toolchain is built differently. */
const recipe = 1;

/**
 * @returns the path of a JSON file `{node, mysqld: {command, args, baseDir, messagesDir} | null, natsServer:
 * {command, args} | null}`. A server is null if the environment names one to use instead.
 */
export async function ensureToolchain(root, cache, external) {
  const file = join(cache, `toolchain-${key(root, cache, external)}.json`);
  if (complete(file)) return file;

  return withLock(join(cache, 'locks', 'toolchain'), async () => {
    if (complete(file)) return file;
    const toolchain = await make(root, cache, external);
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(toolchain, null, 2));
    renameSync(`${file}.${process.pid}`, file);
    return file;
  });
}

/** Unpacks what the system lacks, for `ensureToolchain`: it needs no packages, so both arrive side by side. */
export async function ensurePrograms(cache, external) {
  await withLock(join(cache, 'locks', 'toolchain'), () => programs(cache, external));
}

async function programs(cache, external) {
  const glibc = await glibcVersion();
  const mysqldOnPath = external.mysql ? null : await findProgram('mysqld');
  const natsOnPath = external.nats ? null : await findProgram('nats-server');
  const needs = {
    node: !isNewEnough(glibc),
    mysqld: !external.mysql && mysqldOnPath === null,
    natsServer: !external.nats && natsOnPath === null,
  };
  const packages = packagesFor(needs);
  const folderOf = (names) => join(cache, `debian-${short(`${recipe} ${process.arch} ${names}`)}`);
  // If an earlier run unpacked both servers, use that folder even when one of them is not needed now.
  const everything = folderOf(packagesFor({ node: needs.node, mysqld: true, natsServer: true }));
  const debian = existsSync(everything) ? everything : folderOf(packages);
  if (packages.length > 0 && !existsSync(debian)) {
    if (!hasApt()) throw new SetupError(withoutApt(needs));
    mkdirSync(cache, { recursive: true });
    await unpackDebian({ packages, target: debian });
  }
  return { needs, debian, mysqldOnPath, natsOnPath };
}

async function make(root, cache, external) {
  const { needs, debian, mysqldOnPath, natsOnPath } = await programs(cache, external);
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
  ...(mysqld ? [pinned('mysql-server-core', 'mysqld')] : []),
  ...(natsServer ? [pinned('nats-server', 'nats-server')] : []),
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

function withoutApt(needs) {
  const missing = [
    ...(needs.node ? ['a GNU C library of 2.38 or newer (Debian 13, Ubuntu 24.04, Fedora 39 …)'] : []),
    ...(needs.mysqld ? ['MySQL (`mysqld` on PATH, or MYSQL_URL)'] : []),
    ...(needs.natsServer ? ['`nats-server` (on PATH, or NATS_URL)'] : []),
  ];
  return `This system has no apt to fetch what is missing: please provide ${missing.join(' and ')}, in the versions of deploy/versions.json.`;
}

function complete(file) {
  if (!existsSync(file)) return false;
  const { node, mysqld, natsServer } = JSON.parse(readFileSync(file, 'utf8'));
  return [node, mysqld?.command, natsServer?.command].every((path) => path === undefined || existsSync(path));
}

function key(root, cache, external) {
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
      packagesFor({ node: true, mysqld: true, natsServer: true }),
      ...['mysqld', 'nats-server'].flatMap(everyOnPath).map(stamp),
    ].join('\n'),
  );
}

const short = (text) => createHash('sha256').update(text).digest('hex').slice(0, 12);
