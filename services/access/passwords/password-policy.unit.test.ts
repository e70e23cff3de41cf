import { Problem } from '@causeway/proto';
import { expect, test } from 'vitest';
import { requireGoodPassword } from './password-policy.ts';

const context = ['Brightwater Partners', 'ada.lovelace@brightwater.example', 'Ada Lovelace'];
const reasonOf = (password: string): string | undefined => {
  try {
    requireGoodPassword('password', password, context);
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.publicMessage;
  }
};

test.each([
  'seven otters juggle lanterns',
  'correct horse battery staple',
  'Tr0ub4dor&3xxx',
  'gJ8#kd02mLpq',
  'brightwater tea kettles sing',
  'übermäßig große Fässer',
])('%s is accepted', (password) => {
  expect(reasonOf(password)).toBeUndefined();
});

test.each([
  ['qwertyuiop123', 'is a common password'],
  ['P@ssw0rd2026!', 'is a common password'],
  ['!!!Sunshine!!!', 'is a common password'],
  ['ＰＡＳＳＷＯＲＤ1234', 'is a common password'],
  ['hunter2hunter2', 'is a common password'],
  ['abcabcabcabcabc', 'is a common password'],
  ['1234567890123', 'is a common password'],
  ['poiuytrewqasdf', 'is a run of keys or characters'],
  ['1qaz2wsx3edc4rfv', 'is a common password'],
  ['qwerty-asdfgh-zxcvbn', 'is a run of keys or characters'],
  ['aabbaabbaabbccaabb', 'has too few different characters'],
  ['Brightwater2026', 'is made of names that anyone can guess'],
  ['lovelace-brightwater', 'is made of names that anyone can guess'],
  ['causeway-portal-99', 'is made of names that anyone can guess'],
])('%s %s', (password, reason) => {
  expect(reasonOf(password)).toBe(`password ${reason}`);
});
