import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  type ImageName,
  imageWorkspaces,
  licencesFile,
  packagesOf,
  readLock,
  renderLicences,
} from './licences.ts';

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

  test('has only packages that are pinned by hash', () => {
    const loose = packages.filter(({ integrity }) => !integrity?.startsWith('sha512-'));
    expect(loose.map(({ name }) => name)).toEqual([]);
  });
});

test('every package comes from the registry', () => {
  const astray = Object.entries(readLock().packages).filter(
    ([, { resolved, link }]) => resolved !== undefined && !link,
  );
  expect(astray.map(([folder]) => folder)).toEqual([]);
});

test('the list of licences matches the lock file', () => {
  expect(readFileSync(licencesFile, 'utf8')).toBe(renderLicences());
});
