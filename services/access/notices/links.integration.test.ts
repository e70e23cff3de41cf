import { testInbox } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { browserOf, newAddress, openPortal, testPassword, tokenOf } from '../testing/boot.ts';
import { linkMails } from './links.ts';

const inbox = await testInbox({});
const mail = {
  url: inbox.smtpUrl,
  from: 'Causeway <no-reply@example.com>',
  portalUrl: 'https://crm.example.com/portal',
};
const { world, send, newOwner: openOwner } = await openPortal({ mail, gatherMs: 0 }, { mail, gatherMs: 0 });
const newOwner = async () => {
  const owner = await openOwner();
  const invite = (to = newAddress()) => owner.browser.ask('inviteMember', { email: to, role: 'viewer' });
  return { ...owner, invite };
};
const mailsTo = (address: string) => inbox.mails().filter(({ recipients }) => recipients.includes(address));
const later = (companyId: number, minutes: number) =>
  world.database.query(
    'UPDATE link_mails SET mailed_utc = mailed_utc - INTERVAL ? MINUTE WHERE company_id = ?',
    [minutes, companyId],
  );

test('a company mails as many links in an hour as it may, also when all are made at once at two replicas', async () => {
  const { companyId, invite } = await newOwner();
  const answers = await Promise.all(Array.from({ length: 40 }, () => invite()));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  expect(answers.filter(({ mailed }) => mailed)).toHaveLength(linkMails.ofCompany);
  const unmailed = answers.find(({ mailed }) => !mailed);
  expect(unmailed!.link).toMatch(/#/);
  await later(companyId, 61);
  expect((await invite()).mailed).toBe(true);
  // The clock went back by two hours.
  await Promise.all(Array.from({ length: linkMails.ofCompany }, () => invite()));
  expect((await invite()).mailed).toBe(false);
  await later(companyId, -120);
  expect((await invite()).mailed).toBe(true);
  // Another company has its own.
  expect((await (await newOwner()).invite()).mailed).toBe(true);
});

test('an address gets one link in a quarter of an hour, whatever is revoked, replaced or spelled otherwise', async () => {
  const { companyId, browser, invite } = await newOwner();
  const serialAddress = newAddress();
  const [local] = serialAddress.split('@');
  const { invitation, mailed } = await invite(`${local}@bücher.example`);
  expect(mailed).toBe(true);
  await browser.ask('revokeInvitation', undefined, [String(invitation.id)]);
  for (const same of ['bücher.example', 'BÜCHER.example', 'xn--bcher-kva.example'])
    expect((await invite(`${local!.toUpperCase()}@${same}`)).mailed).toBe(false);
  const { link } = await invite(serialAddress);
  const { user } = await browserOf(send).ask('acceptInvitation', {
    ...{ token: tokenOf(link), name: 'Ada', password: testPassword },
  });
  const reset = () => browser.ask('offerPasswordReset', undefined, [String(user.id)]);
  expect((await reset()).mailed).toBe(false);
  await later(companyId, 16);
  const { link: mailedLink } = await reset();
  await expect.poll(() => mailsTo(serialAddress).at(-1)?.text).toContain(String(mailedLink));
  expect((await reset()).mailed).toBe(false);
});

test('the mail of a member with a hostile name holds no link but its own', async () => {
  const { browser, invite } = await newOwner();
  await browser.ask('updateProfile', {
    name: 'Security: your account is closed, confirm at http://evil.example/x or mail support@evil.example',
  });
  const to = newAddress();
  await invite(to);
  await expect.poll(() => mailsTo(to).length).toBe(1);
  const [{ text, subject, html }] = mailsTo(to) as [ReturnType<typeof mailsTo>[number]];
  for (const part of [text, subject, html]) expect(part).not.toMatch(/evil\.example|http:|@evil/);
  expect(text.match(/https?:\/\/\S+/g)).toEqual([expect.stringMatching(/^https:\/\/crm\.example\.com\//)]);
});
