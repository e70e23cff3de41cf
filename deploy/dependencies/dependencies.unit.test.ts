import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type ImageName, imageWorkspaces, packagesOf, readLock } from './licences.ts';

/** Each allows us to distribute the images without our own source. */
const allowed = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
  'Unlicense',
  'OFL-1.1',
]);

const images = Object.keys(imageWorkspaces) as ImageName[];

describe.each(images)('%s', (image) => {
  const packages = packagesOf(image);

  test('has third-party packages', () => {
    expect(packages.length).toBeGreaterThan(5);
  });

  test('has no package under an unapproved licence', () => {
    const others = packages.filter(({ licence }) => !allowed.has(licence));
    expect(others.map(({ name, licence }) => `${name}: ${licence}`)).toEqual([]);
  });

  test('has no package with an install script', () => {
    expect(packages.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name)).toEqual([]);
  });
});

test('every package of the lock file is pinned by hash, those of development too', () => {
  const loose = Object.entries(readLock().packages).filter(
    ([folder, { link, integrity }]) =>
      folder.includes('node_modules/') && !link && !integrity?.startsWith('sha512-'),
  );
  expect(loose.map(([folder]) => folder)).toEqual([]);
});

test('the native code of uWebSockets.js is the one that we looked at', () => {
  const folder = fileURLToPath(new URL('../../node_modules/uWebSockets.js/', import.meta.url));
  const recorded = {
    source_commit: 'ff48755d2f5428973d87f166f40ede34995bee5a',
    'uws.js': '4d5b2e91c80744a0954e5427c9e79dd9fd84ed2de3473dbc1d7dfaeb0aaf8ae5',
    'uws_linux_arm64_137.node': 'ad0ffb42a119ee022ba1fc752d942e5a19b863ce47bfdc909cd1d5bc1363a7a6',
    'uws_linux_x64_137.node': '9aa8b857ac4ab0bfb1245e948eeeacc904b13a3608c9a281d551c43c66bea66e',
  };
  const { source_commit, ...hashes } = recorded;
  expect(readFileSync(`${folder}source_commit`, 'utf8').trim()).toBe(source_commit);
  for (const [file, hash] of Object.entries(hashes))
    expect([
      file,
      createHash('sha256')
        .update(readFileSync(folder + file))
        .digest('hex'),
    ]).toEqual([file, hash]);
  // The binary that this process would load is among them.
  if (process.platform === 'linux')
    expect(hashes).toHaveProperty([`uws_linux_${process.arch}_${process.versions.modules}.node`]);
});

test('every package comes from the registry', () => {
  const astray = Object.entries(readLock().packages).filter(
    ([, { resolved, link }]) => resolved !== undefined && !link,
  );
  expect(astray.map(([folder]) => folder)).toEqual([]);
});
