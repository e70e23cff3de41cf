import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machines } from './debian.mjs';
import { run } from './run.mjs';
import { SetupError, step } from './terminal.mjs';

/** TypeScript runs from source from this version on; uWebSockets.js is linked against this C library. */
const minimumNodeMajor = 24;
const minimumGlibc = [2, 38];

export const packagedNode = (root) => join(root, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');

export async function glibcVersion() {
  const text = await run('getconf', ['GNU_LIBC_VERSION']).catch(() => '');
  const match = /^glibc (\d+)\.(\d+)/.exec(text);
  if (match) return [Number(match[1]), Number(match[2])];
  throw new SetupError(
    'The local cluster needs a Linux with the GNU C library (Debian, Ubuntu, Fedora …), and this one has another: ' +
      'run it in a Debian container or virtual machine.',
  );
}

export const isNewEnough = ([major, minor]) =>
  major > minimumGlibc[0] || (major === minimumGlibc[0] && minor >= minimumGlibc[1]);

export function baseNode(root) {
  if (Number(process.versions.node.split('.')[0]) >= minimumNodeMajor) {
    return { file: process.execPath, version: process.versions.node };
  }
  const file = packagedNode(root);
  if (existsSync(file)) {
    return { file, version: JSON.parse(readFileSync(join(file, '../../package.json'), 'utf8')).version };
  }
  throw new SetupError(
    `The npm package with Node ${minimumNodeMajor} for linux-${process.arch} is not installed: install Node ` +
      `${minimumNodeMajor} or newer, or delete node_modules and run the command again.`,
  );
}

export async function patchedNode({ source, target, libraries }) {
  const node = join(target, 'node');
  if (existsSync(node)) return node;
  const { triplet, loader } = machines[process.arch];
  const lib = join(libraries, 'usr/lib', triplet);
  const fresh = `${target}.partial`;
  await step('preparing Node', async () => {
    rmSync(fresh, { recursive: true, force: true });
    mkdirSync(fresh, { recursive: true });
    const program = rebind(readFileSync(source), { loader: join(lib, loader), folder: lib });
    writeFileSync(join(fresh, 'node'), program, { mode: 0o755 });
    await run(join(fresh, 'node'), ['--version']);
    rmSync(target, { recursive: true, force: true });
    renameSync(fresh, target);
  });
  return node;
}

// A program is bound to its C library by PT_INTERP and DT_RUNPATH in its ELF headers (System V ABI, "Object
// Files"). Both go to a new segment at the end of the file, so that nothing moves; patchelf would grow the
// first segment downwards, which crashes Node's non-relocatable binary.

const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_INTERP = 3;
const PT_NOTE = 4;
const DT_NULL = 0n;
const DT_STRTAB = 5n;
const DT_STRSZ = 10n;
const DT_RUNPATH = 29n;
const DT_FLAGS_1 = 0x6ffffffbn;
const pageBytes = 0x10000;

function rebind(program, { loader, folder }) {
  const table = Number(program.readBigUInt64LE(32));
  const size = program.readUInt16LE(54);
  const count = program.readUInt16LE(56);
  const headers = Array.from({ length: count }, (_, i) =>
    Buffer.from(program.subarray(table + i * size, table + (i + 1) * size)),
  );
  const find = (type) => headers.findIndex((header) => header.readUInt32LE(0) === type);
  const loads = headers.filter((header) => header.readUInt32LE(0) === PT_LOAD);
  const note = find(PT_NOTE);
  if (program.readUInt32BE(0) !== 0x7f454c46 || note < 0 || find(PT_INTERP) < 0) {
    throw new Error('not a program that can be given another loader');
  }

  const strings = dynamicStrings(program, headers[find(PT_DYNAMIC)], loads);
  const interpreter = Buffer.from(`${loader}\0`);
  const names = Buffer.concat([strings.bytes, Buffer.from(`${folder}\0`)]);
  const segment = Buffer.concat([interpreter, names]);
  const offset = roundUp(program.length);
  const address = roundUp(Math.max(...loads.map((load) => u64(load, 16) + u64(load, 40))));

  // The header of the note (a build id) becomes the new segment's. Segments are listed by rising address.
  const added = header(size, {
    type: PT_LOAD,
    flags: 6,
    offset,
    address,
    bytes: segment.length,
    align: pageBytes,
  });
  const last = headers.lastIndexOf(loads.at(-1));
  headers.splice(last + 1, 0, added);
  headers.splice(note > last ? note + 1 : note, 1);
  const at = find(PT_INTERP);
  headers[at] = header(size, {
    type: PT_INTERP,
    flags: 4,
    offset,
    address,
    bytes: interpreter.length,
    align: 1,
  });

  const result = Buffer.alloc(offset + segment.length);
  program.copy(result);
  segment.copy(result, offset);
  for (const [i, bytes] of headers.entries()) bytes.copy(result, table + i * size);
  strings.set(result, {
    address: address + interpreter.length,
    bytes: names.length,
    runpath: strings.bytes.length,
  });
  return result;
}

function dynamicStrings(program, dynamic, loads) {
  const start = u64(dynamic, 8);
  const entries = Array.from({ length: u64(dynamic, 32) / 16 }, (_, i) => start + i * 16);
  const tagged = (tag) => entries.find((at) => program.readBigUInt64LE(at) === tag);
  const table = u64(program, tagged(DT_STRTAB) + 8);
  const home = loads.find((load) => table >= u64(load, 16) && table < u64(load, 16) + u64(load, 32));
  const offset = table - u64(home, 16) + u64(home, 8);

  // A free entry must leave a terminator behind it. DT_FLAGS_1 only repeats DT_FLAGS here (bind at once).
  const free = entries.find((at, i) => program.readBigUInt64LE(at) === DT_NULL && i < entries.length - 1);
  const slot = tagged(DT_RUNPATH) ?? free ?? tagged(DT_FLAGS_1);
  if (slot === undefined) throw new Error('no room for a library path in the dynamic section');
  return {
    bytes: program.subarray(offset, offset + u64(program, tagged(DT_STRSZ) + 8)),
    set(result, { address, bytes, runpath }) {
      result.writeBigUInt64LE(BigInt(address), tagged(DT_STRTAB) + 8);
      result.writeBigUInt64LE(BigInt(bytes), tagged(DT_STRSZ) + 8);
      result.writeBigUInt64LE(DT_RUNPATH, slot);
      result.writeBigUInt64LE(BigInt(runpath), slot + 8);
    },
  };
}

function header(size, { type, flags, offset, address, bytes, align }) {
  const buffer = Buffer.alloc(size);
  buffer.writeUInt32LE(type, 0);
  buffer.writeUInt32LE(flags, 4);
  for (const [i, value] of [offset, address, address, bytes, bytes, align].entries()) {
    buffer.writeBigUInt64LE(BigInt(value), 8 + i * 8);
  }
  return buffer;
}

const u64 = (buffer, at) => Number(buffer.readBigUInt64LE(at));
const roundUp = (value) => Math.ceil(value / pageBytes) * pageBytes;
