import { randomBytes } from 'node:crypto';
import { parseConfig } from '@causeway/runtime';
import { expect, test } from 'vitest';
import { webhooksConfig } from './config.ts';

const key = randomBytes(32).toString('base64');
const given = { MYSQL_URL: 'mysql://user@localhost/db', WEBHOOKS_SECRET_KEYS: `2026:${key}` };

test('production requires a database and a key ring, and has defaults for the rest', () => {
  const config = parseConfig(webhooksConfig, given);
  expect(config).toMatchObject({
    WEBHOOKS_ALLOW_HTTP: false,
    WEBHOOKS_ALLOW_PRIVATE: false,
    RETENTION_DAYS: 30,
  });
  expect(config.WEBHOOKS_SECRET_KEYS.sealsWith).toBe('2026');
  expect(() => parseConfig(webhooksConfig, {})).toThrow(
    'configuration: MYSQL_URL is required; WEBHOOKS_SECRET_KEYS is required',
  );
});

test.each([
  [key, 'each key must be name:key, the key 32 bytes in base64'],
  [`a:${key.slice(4)}`, 'each key must be name:key, the key 32 bytes in base64'],
  [`a:${key},a:${key}`, 'the key name a occurs twice'],
])('an unusable key ring is refused without revealing its keys (%#)', (keys, sentence) => {
  const read = () => parseConfig(webhooksConfig, { ...given, WEBHOOKS_SECRET_KEYS: keys });
  expect(read).toThrow(`configuration: WEBHOOKS_SECRET_KEYS: ${sentence}`);
  expect(read).not.toThrow(key.slice(4, 12));
});
