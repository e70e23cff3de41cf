import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { chooseTests } from './choice.ts';

const root = mkdtempSync(join(tmpdir(), 'causeway-choice-'));
afterAll(() => rmSync(root, { recursive: true }));
const files = {
  'services/crm/search.unit.test.ts': "test('finds a name (in part)', …)",
  'services/crm/search.integration.test.ts': "test('finds a stored name', …)",
  'services/crm/node_modules/other/search.unit.test.ts': '',
  'services/crm/search.ts': '',
  'e2e/api/search.test.ts': '',
  'e2e/fuzz/long.nightly.fuzz.test.ts': '',
  'e2e/faults/long.nightly.test.ts': '',
};
for (const [file, text] of Object.entries(files)) {
  mkdirSync(join(root, dirname(file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

test.each(['crm/search.unit', './services/crm/search.unit.test.ts', join(root, 'services/crm/search.unit')])(
  'the path %s chooses one file, and the project that it belongs to',
  (word) => {
    expect(chooseTests(root, [word])).toEqual({
      files: ['services/crm/search.unit.test.ts'],
      projects: ['unit'],
      options: [],
    });
  },
);

test('a part of several paths chooses them all', () => {
  expect(chooseTests(root, ['search'])?.projects).toEqual(['unit', 'integration', 'api']);
});

test('several paths choose the files that match any of them', () => {
  expect(chooseTests(root, ['search.unit', 'api/search'])?.files).toEqual([
    'services/crm/search.unit.test.ts',
    'e2e/api/search.test.ts',
  ]);
});

test('words that match no path are part of a test name', () => {
  expect(chooseTests(root, ['a name (in part)'])).toEqual({
    files: ['services/crm/search.unit.test.ts'],
    projects: ['unit'],
    options: ['--testNamePattern', 'a name \\(in part\\)'],
  });
  // Without quotes the shell passes each word separately.
  expect(chooseTests(root, ['a', 'stored', 'name'])?.files).toEqual([
    'services/crm/search.integration.test.ts',
  ]);
});

test('options are passed to vitest', () => {
  expect(chooseTests(root, ['search.unit', '-t', 'a name'])).toMatchObject({
    files: ['services/crm/search.unit.test.ts'],
    options: ['-t', 'a name'],
  });
});

test('a nightly test runs when it is named', () => {
  expect(chooseTests(root, ['long.nightly'])).toEqual({
    files: ['e2e/fuzz/long.nightly.fuzz.test.ts', 'e2e/faults/long.nightly.test.ts'],
    projects: ['api', 'faults'],
    options: ['--mode', 'nightly'],
  });
});

test.each(['no such test', 'search.unit no-such-path'])('nothing is chosen for %s', (words) => {
  expect(chooseTests(root, words.split(' '))).toBeUndefined();
});
