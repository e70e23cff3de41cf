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

/** Each lets us give the images on without giving our own source. */
const allowed = new Set([
  'MIT',
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

  test('has packages of others', () => {
    expect(packages.length).toBeGreaterThan(5);
  });

  test('has none under a licence that was not thought about', () => {
    const others = packages.filter(({ licence }) => !allowed.has(licence));
    expect(others.map(({ name, licence }) => `${name}: ${licence}`)).toEqual([]);
  });

  test('has none that wants to run something when it is installed', () => {
    expect(packages.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name)).toEqual([]);
  });

  test('has only packages whose bytes are pinned', () => {
    const loose = packages.filter(({ integrity }) => !integrity?.startsWith('sha512-'));
    expect(loose.map(({ name }) => name)).toEqual([]);
  });
});

test('nothing comes from outside of the registry', () => {
  const astray = Object.entries(readLock().packages).filter(
    ([, { resolved, link }]) => resolved !== undefined && !link,
  );
  expect(astray.map(([folder]) => folder)).toEqual([]);
});

test('the list of licences is that of the lock file', () => {
  expect(readFileSync(licencesFile, 'utf8')).toBe(renderLicences());
});
