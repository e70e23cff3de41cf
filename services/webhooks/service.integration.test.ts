import { expect, test } from 'vitest';
import { bootWebhooks } from './testing/boot.ts';

test('an operation without a handler gets 501', async () => {
  const { ask } = await bootWebhooks();
  expect(await ask('nonesuch', 1)).toMatchObject({ status: 501, body: { error: expect.any(String) } });
});
