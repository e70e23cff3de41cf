import { contract, scopes } from '@causeway/proto';
import { expect, test } from 'vitest';
import { sampleCall } from '../../model/scopes.ts';

test.each(scopes)('the sample for a key with only %s is a call that this scope allows', (scope) => {
  const text = sampleCall('https://crm.example/api/v1', 'crm_1_secret', [scope]);
  const path = /crm\.example\/api\/v1(\S+)/.exec(text)?.[1];
  const method = text.includes(' -d ') ? 'POST' : 'GET';
  const called = Object.values(contract).find(
    (one) => one.audience === 'key' && one.path === path && one.method === method,
  );
  expect(called).toMatchObject({ scope });
  expect(text.split('crm_1_secret')).toHaveLength(2);
  expect(text).toContain('$CAUSEWAY_KEY');
  const body = /-d '(.*)'/.exec(text)?.[1];
  if (called?.body && body !== undefined) expect(called.body.safeParse(JSON.parse(body)).success).toBe(true);
});

test('reading comes first', () => {
  expect(sampleCall('', 'k', scopes)).toContain('/integrations/lookups/employees');
});
