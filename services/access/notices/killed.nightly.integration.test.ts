import { join } from 'node:path';
import { writeNotices } from '@causeway/identity';
import { testInbox, testProcess } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { newAddress, operatorOf, testPassword, testPortal, testWorld } from '../testing/boot.ts';

test('a process that is killed while it sends loses no mail, and the mail keeps its id', async () => {
  const own = await testWorld();
  const started = Promise.withResolvers<void>();
  const hold = Promise.withResolvers<void>();
  let isHeld = true;
  const mailbox = await testInbox({
    onMail: async () => {
      started.resolve();
      if (isHeld) await hold.promise;
    },
  });
  const [[name, key]] = [...testPortal.keyRing.keys] as [[string, Buffer]];
  const start = () =>
    testProcess({
      entry: join(import.meta.dirname, '../main.ts'),
      env: {
        ...process.env,
        MYSQL_URL: own.database.url,
        NATS_URL: own.nats.url,
        PORTAL_SECRET_KEYS: `${name}:${key.toString('base64')}`,
        SMTP_URL: mailbox.smtpUrl,
        MAIL_FROM: 'no-reply@example.com',
        PORTAL_URL: 'https://crm.example.com/portal',
        LOG_LEVEL: 'error',
      },
    });
  const first = await start();
  const ask = operatorOf(await own.openBus('operator'));
  const { company_id } = (await ask('createCompany', { name: 'Acme' })).body;
  const email = newAddress();
  await ask('createPortalOwner', { company_id, email, password: testPassword });
  await writeNotices(own.openDb(), [
    {
      companyId: company_id,
      kind: 'subscription_failing',
      cause: 'subscription_failing:5:2026-01-01T00',
      subject: { id: 5, name: 'Billing' },
      detail: { failures: 5 },
      at: new Date(),
    },
  ]);
  await expect.poll(() => own.database.query('SELECT 1 FROM notice_sends')).toHaveLength(2);
  await started.promise;
  await first.kill();
  expect(mailbox.mails()).toEqual([]);
  isHeld = false;
  // The first process never reads the answer.
  hold.resolve();
  const rows = await own.database.query<{ attempts: number }>('SELECT attempts FROM notice_sends');
  expect(rows.map(({ attempts }) => attempts).toSorted()).toEqual([0, 1]);
  await own.database.query('UPDATE notice_sends SET due_utc = UTC_TIMESTAMP(3)');
  await start();
  await expect.poll(() => own.database.query('SELECT 1 FROM notice_sends')).toEqual([]);
  // Two messages; the server gets the interrupted one twice.
  await expect.poll(() => mailbox.mails().length).toBe(3);
  expect(new Set(mailbox.mails().map(({ messageId }) => messageId)).size).toBe(2);
});
