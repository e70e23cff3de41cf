import { expect, test } from 'vitest';
import { bootWebhooks } from './testing/boot.ts';

test('an operation that no handler is for is answered 501', async () => {
  const { ask } = await bootWebhooks();
  expect(await ask('nonesuch', 1)).toMatchObject({ status: 501, body: { error: expect.any(String) } });
});
