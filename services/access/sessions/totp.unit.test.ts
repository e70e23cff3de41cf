import { expect, test } from 'vitest';
import { newTotpSecret, totpCode, totpStep, totpUri } from './factor-codes.ts';

/** The secret of RFC 6238, appendix B: "12345678901234567890". */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('at %i s the code is the one of RFC 6238', (seconds, code) => {
  expect(totpCode(secret, Math.floor(seconds / 30))).toBe(code);
  expect(totpStep(secret, code, new Date(seconds * 1000))).toBe(Math.floor(seconds / 30));
});

test('a code is valid for its step and one on either side, and names its step', () => {
  const at = (step: number) => new Date(step * 30_000 + 15_000);
  const code = totpCode(secret, 1000);
  expect([998, 999, 1000, 1001, 1002].map((step) => totpStep(secret, code, at(step)))).toEqual([
    null,
    1000,
    1000,
    1000,
    null,
  ]);
  expect(totpStep(secret, '12345', at(1000))).toBeNull();
});

test('a new secret has 160 bits and makes codes', () => {
  const made = newTotpSecret((bytes) => Buffer.alloc(bytes, 0xa5));
  expect(made).toMatch(/^[A-Z2-7]{32}$/);
  expect(totpCode(made, 1)).toMatch(/^\d{6}$/);
  expect(totpUri('Causeway', 'a b@example.com', made)).toBe(
    `otpauth://totp/Causeway:a%20b%40example.com?issuer=Causeway&secret=${made}&algorithm=SHA1&digits=6&period=30`,
  );
});
