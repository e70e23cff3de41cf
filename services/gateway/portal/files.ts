import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import type { Log } from '@causeway/runtime';
import type { Header } from '../limits/limiter.ts';
import { pagePermissions, pagePolicy } from './answers.ts';
import type { PortalHead } from './visit.ts';

interface PortalFiles {
  /** Checks the folder periodically, so that a new build is found. */
  present(): boolean;
  /** @param path below `/portal`, with its slash; empty for the portal itself. */
  answer(path: string, head: PortalHead): Page;
}

export interface Entry {
  readonly plain: Buffer;
  readonly encoded: readonly { readonly encoding: string; readonly body: Buffer }[];
  readonly type: string;
  readonly etag: string;
}

const lookAgainMs = 1000;

export const portalFiles = (folder: string | undefined, log: Log): PortalFiles => {
  let files = folder ? readFolder(folder) : noFiles;
  /** Pages opened before the new build still load files of the previous build. */
  let before = noFiles;
  let builtMs = 0;
  let lookedMs = performance.now();

  const look = async (path: string): Promise<void> => {
    const { mtimeMs } = await stat(join(path, 'index.html'));
    if (mtimeMs === builtMs) return;
    before = files;
    files = readFolder(path);
    builtMs = mtimeMs;
    log.info({ files: files.size }, 'portal files read');
  };

  return {
    present: () => {
      if (folder && performance.now() - lookedMs > lookAgainMs) {
        lookedMs = performance.now();
        // During a new build, the previous files are served.
        look(folder).catch(() => {});
      }
      return files.has(index);
    },
    answer: (path, head) => {
      const name = path.slice(1);
      const hashed = name.startsWith('assets/');
      const file = files.get(name) ?? (hashed ? before.get(name) : undefined);
      if (file && name !== index) return send(file, head, hashed ? forever : 'no-cache');
      // A path without an extension is a page, which the portal's script routes.
      if (extname(path) !== '' && path !== `/${index}`) return missing;
      return page(files.get(index)!, head);
    },
  };
};

const index = 'index.html';
/** The name of a hashed file changes with its content. */
const forever = 'public, max-age=31536000, immutable';
const noFiles: ReadonlyMap<string, Entry> = new Map();

const page = (file: Entry, head: PortalHead): Page => {
  const answer = send(file, head, 'no-cache');
  // A shared link is for one reader, and the other pages need a session.
  const unlisted: Header = ['X-Robots-Tag', 'noindex, nofollow'];
  return { ...answer, headers: [...answer.headers, pagePolicy, pagePermissions, unlisted] };
};

export type CachingHead = Pick<PortalHead, 'ifNoneMatch' | 'acceptEncoding'>;

export const send = (file: Entry, head: CachingHead, cacheControl: string): Page => {
  const caching: readonly Header[] = [
    ['Cache-Control', cacheControl],
    ['ETag', file.etag],
    ['Vary', 'Accept-Encoding'],
  ];
  if (head.ifNoneMatch.includes(file.etag)) return { status: 304, body: null, headers: caching };
  const accepted = head.acceptEncoding.split(',').map((entry) => entry.split(';')[0]!.trim());
  const chosen = file.encoded.find(({ encoding }) => accepted.includes(encoding));
  return {
    status: 200,
    body: chosen?.body ?? file.plain,
    headers: [
      ...caching,
      ['Content-Type', file.type],
      ...(chosen ? [['Content-Encoding', chosen.encoding] as const] : []),
    ],
  };
};

const missing: Page = {
  status: 404,
  body: 'not found\n',
  headers: [
    ['Content-Type', 'text/plain'],
    ['Cache-Control', 'no-store'],
  ],
};

const readFolder = (folder: string): ReadonlyMap<string, Entry> => {
  if (!existsSync(join(folder, index))) return noFiles;
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const files = new Map<string, Entry>();
  for (const path of paths) {
    const name = relative(folder, path).split(sep).join('/');
    const type = types[extname(name)];
    // The build's metadata is in hidden folders; compressed copies are read with their file.
    if (!type || name.split('/').some((part) => part.startsWith('.'))) continue;
    const plain = readFileSync(path);
    const twins = [
      { encoding: 'br', file: `${path}.br` },
      { encoding: 'gzip', file: `${path}.gz` },
    ].filter(({ file }) => existsSync(file));
    files.set(name, {
      plain,
      encoded: twins.map(({ encoding, file }) => ({ encoding, body: readFileSync(file) })),
      type,
      etag: etagOf(plain),
    });
  }
  return files;
};

export const etagOf = (bytes: Uint8Array): string =>
  `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
};

export interface Page {
  readonly status: number;
  readonly body: Buffer | string | null;
  readonly headers: readonly (readonly [string, string])[];
}
