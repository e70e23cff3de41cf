import { argon2Sync } from 'node:crypto';
import { Problem } from '@causeway/proto';
import { describe, expect, test, vi } from 'vitest';
import { hashPassword, saltOf, verifyPassword, verifyPasswords } from './password.ts';
import { requireGoodPassword } from './password-policy.ts';

test('the hashed password verifies, another does not', () => {
  const stored = hashPassword('correct horse battery staple');
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(verifyPassword('correct horse battery staple', stored)).toBe(true);
  expect(verifyPassword('correct horse battery stapler', stored)).toBe(false);
});

test('hashing twice gives two hashes', () => {
  expect(hashPassword('same')).not.toBe(hashPassword('same'));
});

test('a password typed in another Unicode form is the same password', () => {
  const stored = hashPassword('caf\u00e9 au lait');
  expect(verifyPassword('cafe\u0301 au lait', stored)).toBe(true);
});

test('a hash with another cost still verifies', () => {
  const nonce = Buffer.alloc(16, 7);
  const hash = argon2Sync('argon2id', {
    message: 'older',
    nonce,
    memory: 64,
    passes: 3,
    parallelism: 2,
    tagLength: 24,
  });
  const stored = `$argon2id$v=19$m=64,t=3,p=2$${nonce.toString('base64').replaceAll('=', '')}$${hash.toString('base64')}`;
  expect(verifyPassword('older', stored)).toBe(true);
  expect(verifyPassword('newer', stored)).toBe(false);
});

test('text that is not a hash verifies no password', () => {
  expect(verifyPassword('', '')).toBe(false);
  expect(verifyPassword('x', '$argon2id$v=19$m=64,t=3,p=2$$')).toBe(false);
});

test('hashes of one salt are checked by one derivation, however many there are', () => {
  const first = hashPassword('seven otters');
  const hashes = [first, hashPassword('eight badgers', saltOf(first)), first];
  const derive = vi.fn(argon2Sync);
  expect(verifyPasswords('eight badgers', hashes, derive)).toEqual([false, true, false]);
  expect(derive).toHaveBeenCalledOnce();
});

describe('A new password', () => {
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
});
