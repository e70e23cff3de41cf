import { argon2Sync } from 'node:crypto';
import { expect, test } from 'vitest';
import { hashPassword, saltOf, verifyPassword, verifyPasswords } from './password.ts';

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
  let derivations = 0;
  const counted: typeof argon2Sync = (...input) => {
    derivations++;
    return argon2Sync(...input);
  };
  expect(verifyPasswords('eight badgers', hashes, counted)).toEqual([false, true, false]);
  expect(derivations).toBe(1);
});
