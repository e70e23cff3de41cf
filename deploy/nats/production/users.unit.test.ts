import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { passwordVariable, renderUsersFile, userNames, usersFile } from './users.ts';

test("production's users match the permissions", () => {
  expect(readFileSync(usersFile, 'utf8')).toBe(renderUsersFile());
});

test('each user has a password of its own, which is not in the file', () => {
  const passwords = [...renderUsersFile().matchAll(/"password": (.+?),?$/gm)].map((match) => match[1]);
  expect(passwords).toEqual(userNames.map((name) => `$${passwordVariable(name)}`));
});
