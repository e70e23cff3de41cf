import { type Notice, writeNotices } from '@causeway/identity';
import { testInbox } from '@causeway/runtime/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { browserOf, newAddress, openPortal, tokenOf } from '../testing/boot.ts';
import { messagesPerHour } from './plan.ts';

// Mails of notices and links, from the rows of their causes to a real SMTP server.

let refuse: (() => Promise<void>) | undefined;
const inbox = await testInbox({ onMail: async () => refuse?.() });
const mail = {
  url: inbox.smtpUrl,
  from: 'Causeway <no-reply@example.com>',
  portalUrl: 'https://crm.example.com/portal',
};
// Two replicas: whatever is told twice by them is a fault.
const { world, send, newOwner } = await openPortal({ mail, gatherMs: 0 }, { mail, gatherMs: 0 });
const db = world.openDb();
const rowsOf = <Row>(sql: string, ...values: readonly unknown[]) => world.database.query<Row>(sql, values);
beforeEach(() => {
  refuse = undefined;
});

const mailsTo = (address: string) => inbox.mails().filter(({ recipients }) => recipients.includes(address));
const subjectsTo = (address: string) => mailsTo(address).map(({ subject }) => subject);
const settled = (companyId: number) =>
  expect
    .poll(() =>
      rowsOf(
        `SELECT 1 FROM notices WHERE company_id = ? AND due_utc <= UTC_TIMESTAMP(3)
       UNION ALL SELECT 1 FROM notice_sends WHERE company_id = ?`,
        ...[companyId, companyId],
      ),
    )
    .toEqual([]);

/** The server has refused what there is, which waits for another attempt. */
const refused = async (companyId: number) => {
  const rows = (where: string) =>
    expect.poll(() => rowsOf(`SELECT 1 FROM notice_sends WHERE company_id = ? AND ${where}`, companyId));
  await rows('TRUE').not.toEqual([]);
  await rows('(attempts = 0 OR due_utc > UTC_TIMESTAMP(3) + INTERVAL 45 SECOND)').toEqual([]);
};
/** As if the clock had gone back since. */
const sendAgain = (companyId: number) =>
  rowsOf('UPDATE notice_sends SET due_utc = due_utc + INTERVAL 1 HOUR WHERE company_id = ?', companyId);

/** As if the latest notice of a subject had been told this many times more within the hour, in a message each. */
const toldAgain = async (companyId: number, subject: number, times: number) => {
  for (let time = 0; time < times; time++)
    await rowsOf(
      `INSERT INTO notices
         (company_id, kind, cause, subject_id, subject_name, user_id, detail, created_utc, planned_utc)
       SELECT company_id, kind, ?, subject_id, subject_name, user_id, detail, created_utc, planned_utc
       FROM notices WHERE company_id = ? AND subject_id = ? ORDER BY notice_id DESC LIMIT 1`,
      ...[`again:${subject}:${time}`, companyId, subject],
    );
  await rowsOf(
    "UPDATE notices SET group_id = notice_id WHERE company_id = ? AND cause LIKE 'again:%'",
    companyId,
  );
};

const newCompany = async (name?: string) => {
  const { companyId, join, ...owner } = await newOwner(name);
  return { companyId, owner, member: join };
};

const failing = (companyId: number, subscription: number, name = `Subscription ${subscription}`): Notice => ({
  companyId,
  kind: 'subscription_failing',
  cause: `subscription_failing:${subscription}:2026-01-01T00`,
  subject: { id: subscription, name },
  detail: { failures: 5 },
  at: new Date(),
});

describe('a notice', () => {
  test('of a company whose notices cannot be planned holds up no other', async () => {
    const [one, two] = [await newCompany(), await newCompany()];
    const trigger = `\`${world.database.name}\`.keep_due`;
    await rowsOf(
      `CREATE TRIGGER ${trigger} BEFORE UPDATE ON \`${world.database.name}\`.notices FOR EACH ROW
       IF OLD.company_id = ${one.companyId} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'kept'; END IF`,
    );
    await writeNotices(db, [failing(one.companyId, 5)]);
    await writeNotices(db, [failing(two.companyId, 5, 'Billing')]);
    await expect.poll(() => subjectsTo(two.owner.email)).toContain('“Billing” is failing · Acme');
    await rowsOf(`DROP TRIGGER ${trigger}`);
    await settled(one.companyId);
  });

  test('is told after the clock went back, whatever was told by the former one', async () => {
    const { companyId, owner } = await newCompany();
    const earlier = Array.from({ length: messagesPerHour.kind }, (_, at) => failing(companyId, 100 + at));
    await writeNotices(
      db,
      earlier.map((one) => ({ ...one, at: new Date(Date.now() + 3_600_000) })),
    );
    await rowsOf(
      `UPDATE notices SET group_id = notice_id, planned_utc = due_utc, due_utc = NULL WHERE company_id = ?`,
      companyId,
    );
    await writeNotices(db, [{ ...failing(companyId, 6, 'Billing'), at: new Date(Date.now() + 3_600_000) }]);
    await expect.poll(() => subjectsTo(owner.email)).toContain('“Billing” is failing · Acme');
  });

  test('goes once to each member whose role gets it, and a second one of its cause to nobody', async () => {
    const { companyId, owner, member } = await newCompany();
    const [developer, viewer] = [await member('developer'), await member('viewer')];
    await writeNotices(db, [failing(companyId, 7, 'Billing')]);
    await expect.poll(() => subjectsTo(developer.email)).toContain('“Billing” is failing · Acme');
    await writeNotices(db, [failing(companyId, 7, 'Billing')]);
    await settled(companyId);
    for (const { email } of [owner, developer])
      expect(subjectsTo(email).filter((subject) => subject.includes('Billing'))).toHaveLength(1);
    expect(subjectsTo(viewer.email).filter((subject) => subject.includes('Billing'))).toEqual([]);
    const [notice] = await rowsOf<{ detail: string }>(
      'SELECT detail FROM notices WHERE company_id = ? AND subject_id = 7',
      companyId,
    );
    const { told } = JSON.parse(notice!.detail);
    expect(new Set(told.map(({ memberId }: { memberId: number }) => memberId)).size).toBe(2);
    expect(told).toContainEqual({
      ...{ channel: 'mail', memberId: developer.id },
      utc: expect.stringMatching(/^20.*Z$/),
    });
    const { text, html } = mailsTo(developer.email).find(({ subject }) => subject.includes('Billing'))!;
    expect(text).toContain('You are told when it has caught up.');
    expect(text).toContain('https://crm.example.com/portal/subscriptions/7');
    expect(html).toContain('href="https://crm.example.com/portal/subscriptions/7"');
  });

  test('of a change of rights goes to the admins and to the member concerned', async () => {
    const { companyId, owner, member } = await newCompany();
    const [admin, developer] = [await member('admin'), await member('developer', 'Grace')];
    await settled(companyId);
    await owner.browser.ask('changeRole', { role: 'viewer' }, [String(developer.id)]);
    const title = `${developer.email} is now viewer · Acme`;
    for (const { email } of [owner, admin, developer])
      await expect.poll(() => subjectsTo(email)).toContain(title);
    await settled(companyId);
    expect(mailsTo(developer.email).at(-1)!.text).toContain('https://crm.example.com/portal/security');
    expect(mailsTo(admin.email).at(-1)!.text).toContain('https://crm.example.com/portal/team');
    // Nobody else's: a viewer does not learn of colleagues.
    expect(subjectsTo(developer.email).filter((subject) => subject.includes(admin.email))).toEqual([]);
  });

  test('of a change of rights is told at once everywhere, however many came before', async () => {
    const { companyId, owner, member } = await newCompany();
    const [admin, colleague] = [await member('admin'), await member('developer', 'Grace')];
    for (const role of ['viewer', 'owner']) {
      await owner.browser.ask('changeRole', { role }, [String(colleague.id)]);
      const [latest] = (await admin.browser.ask('listNotices')).notices;
      expect(latest.title).toBe(`${colleague.email} is now ${role}`);
      await settled(companyId);
      if (role === 'viewer') await toldAgain(companyId, colleague.id, messagesPerHour.kind);
    }
    const title = `${colleague.email} is now owner · Acme`;
    for (const { email } of [owner, admin, colleague]) expect(subjectsTo(email)).toContain(title);
  });

  test('stays away when the member has chosen so, has left, or has lost the role', async () => {
    const { companyId, owner, member } = await newCompany();
    const [off, left, on] = [await member('developer'), await member('developer'), await member('viewer')];
    const changed = await off.browser.ask('updateNoticeSettings', { mail: { subscription_failing: false } });
    expect(changed.kinds.find(({ kind }: Notice) => kind === 'subscription_failing').mail).toBe(false);
    await on.browser.ask('updateNoticeSettings', { mail: { subscription_failing: true } });
    await settled(companyId);
    // The server is slow: all of this happens after the mails were planned.
    const { promise, resolve } = Promise.withResolvers<void>();
    refuse = () => promise;
    await writeNotices(db, [failing(companyId, 8)]);
    await expect
      .poll(() => rowsOf('SELECT 1 FROM notice_sends WHERE company_id = ?', companyId))
      .not.toEqual([]);
    await owner.browser.ask('removeMember', undefined, [String(left.id)]);
    resolve();
    await settled(companyId);
    const told = (email: string) => subjectsTo(email).filter((subject) => subject.includes('Subscription 8'));
    expect(told(on.email)).not.toEqual([]);
    expect(told(off.email)).toEqual([]);
    expect(
      await rowsOf('SELECT 1 FROM notice_sends WHERE company_id = ? AND user_id = ?', companyId, left.id),
    ).toEqual([]);
    const [entry] = (await owner.browser.ask('listAudit', undefined, [], 'action=notices.mail_changed'))
      .entries;
    expect(entry.after.kinds).toContain('subscription_failing');
  });

  test('with a hostile name neither adds a header nor markup nor turns the line around', async () => {
    const { companyId, owner } = await newCompany();
    await settled(companyId);
    await rowsOf(
      'UPDATE companies SET name = ? WHERE company_id = ?',
      'Acme\r\nBcc: victim@example.com',
      companyId,
    );
    const name = 'x\r\nBcc: victim@example.com\r\n\r\n<img src=x onerror=alert(1)> 😀 \u202eגילוי';
    await writeNotices(db, [failing(companyId, 9, name)]);
    await settled(companyId);
    const received = mailsTo(owner.email).at(-1);
    expect(received!.recipients).toEqual([owner.email]);
    expect(inbox.mails().flatMap(({ recipients }) => recipients)).not.toContain('victim@example.com');
    const [head] = received!.raw.split('\r\n\r\n');
    expect(head).not.toMatch(/^Bcc:/im);
    expect(received!.html).not.toContain('<img');
    expect(received!.html).toContain('&#60;img');
    expect(received!.subject).not.toContain('\u202e');
    expect(received!.subject).toContain('\u2068');
  });
});

describe('many notices', () => {
  test('go in few mails, lose none, and delay no other company', async () => {
    const [noisy, quiet] = [await newCompany('Noisy'), await newCompany('Quiet')];
    const count = 2500;
    for (let at = 0; at < count; at += 500)
      await writeNotices(
        db,
        Array.from({ length: 500 }, (_, one) => failing(noisy.companyId, at + one)),
      );
    await writeNotices(db, [failing(quiet.companyId, 1, 'Calm')]);
    await expect.poll(() => subjectsTo(quiet.owner.email)).toContain('“Calm” is failing · Quiet');
    await settled(noisy.companyId);
    const mails = () => subjectsTo(noisy.owner.email).filter((subject) => /failing/.test(subject)).length;
    expect(mails()).toBeLessThanOrEqual(3);
    // As many messages as an hour may have; the rest waits.
    await rowsOf(
      `UPDATE notices SET group_id = notice_id WHERE company_id = ? AND kind = 'subscription_failing'
       ORDER BY notice_id LIMIT ${messagesPerHour.kind}`,
      noisy.companyId,
    );
    const before = mails();
    for (let round = 0; round < 10; round++)
      await writeNotices(db, [failing(noisy.companyId, 10_000 + round)]);
    await settled(noisy.companyId);
    expect(mails()).toBe(before);
    const [row] = await rowsOf<{ planned: number; waiting: number }>(
      `SELECT COUNT(planned_utc) AS planned, COUNT(due_utc) AS waiting FROM notices
       WHERE company_id = ? AND kind = 'subscription_failing'`,
      noisy.companyId,
    );
    expect(Number(row!.planned) + Number(row!.waiting)).toBe(count + 10);
    expect(Number(row!.waiting)).toBeGreaterThan(0);
    // An hour later they are told.
    await rowsOf(
      `UPDATE notices SET planned_utc = planned_utc - INTERVAL 1 HOUR,
       due_utc = due_utc - INTERVAL 1 HOUR WHERE company_id = ?`,
      noisy.companyId,
    );
    await settled(noisy.companyId);
    expect(
      await rowsOf('SELECT 1 FROM notices WHERE company_id = ? AND planned_utc IS NULL', noisy.companyId),
    ).toEqual([]);
  });

  test('of one subject silence no other subject of their kind', async () => {
    const { companyId, owner } = await newCompany();
    const flap = async (subscription: number, round: number) => {
      const cause = `subscription_failing:${subscription}:${round}`;
      await writeNotices(db, [{ ...failing(companyId, subscription), cause }]);
      await settled(companyId);
    };
    await flap(41, 0);
    await toldAgain(companyId, 41, messagesPerHour.subject - 2);
    for (const round of [1, 2]) await flap(41, round);
    const about = (subscription: number) =>
      mailsTo(owner.email).filter(({ text }) => text.includes(`Subscription ${subscription}”`)).length;
    expect(about(41)).toBe(2);
    await flap(42, 0);
    expect(about(42)).toBe(1);
  });

  test('reach the server once while two replicas send them, and again after it refused', async () => {
    const { companyId, owner, member } = await newCompany();
    const developers = [owner, ...(await Promise.all([1, 2, 3].map(() => member('developer'))))];
    await settled(companyId);
    refuse = async () => {
      throw Object.assign(new Error('try again later'), { responseCode: 451 });
    };
    await writeNotices(db, [failing(companyId, 21)]);
    await refused(companyId);
    refuse = undefined;
    await sendAgain(companyId);
    await settled(companyId);
    for (const { email } of developers)
      expect(subjectsTo(email).filter((subject) => subject.includes('Subscription 21'))).toHaveLength(1);
  });
});

describe('a link', () => {
  test('of an invitation goes to its address, and works; its token is stored nowhere in plain text', async () => {
    const { companyId, owner } = await newCompany();
    const { promise, resolve } = Promise.withResolvers<void>();
    refuse = () => promise;
    const email = newAddress();
    const { link, mailed } = await owner.browser.ask('inviteMember', { email, role: 'developer' });
    expect(mailed).toBe(true);
    const token = tokenOf(link)!;
    const dump = JSON.stringify(await rowsOf('SELECT *, CAST(sealed AS CHAR) AS text FROM notice_sends'));
    expect(dump).not.toContain(token);
    resolve();
    await settled(companyId);
    const [received] = mailsTo(email);
    expect(received!.text).toContain(`https://crm.example.com/portal/invitation#${token}`);
    expect((await browserOf(send).ask('getInvitation', { token })).email).toBe(email);
  });

  test('that was withdrawn or replaced before it was sent is not sent', async () => {
    const { companyId, owner, member } = await newCompany();
    const developer = await member('developer');
    await settled(companyId);
    refuse = async () => {
      throw Object.assign(new Error('try again later'), { responseCode: 451 });
    };
    const email = newAddress();
    const { invitation } = await owner.browser.ask('inviteMember', { email, role: 'developer' });
    const offer = () => owner.browser.ask('offerPasswordReset', undefined, [String(developer.id)]);
    const anyTime = () => rowsOf('DELETE FROM link_mails WHERE company_id = ?', companyId);
    await anyTime();
    const replaced = await offer();
    await anyTime();
    const latest = await offer();
    expect(latest.mailed).toBe(true);
    await owner.browser.ask('revokeInvitation', undefined, [String(invitation.id)]);
    await refused(companyId);
    refuse = undefined;
    await sendAgain(companyId);
    await settled(companyId);
    expect(mailsTo(email)).toEqual([]);
    const texts = mailsTo(developer.email).map(({ text }) => text);
    expect(texts.filter((text) => text.includes(tokenOf(replaced.link)!))).toEqual([]);
    expect(texts.filter((text) => text.includes(tokenOf(latest.link)!))).toHaveLength(1);
  });

  test('is only shown where no mail is configured', async () => {
    const { world: own, newOwner: openOwner } = await openPortal();
    const { browser: owner } = await openOwner();
    const answer = await owner.ask('inviteMember', { email: newAddress(), role: 'viewer' });
    expect(answer).toMatchObject({ mailed: false, link: expect.stringContaining('#') });
    expect((await owner.ask('getNoticeSettings')).mailsFrom).toBeNull();
    expect(await own.database.query('SELECT 1 FROM notice_sends')).toEqual([]);
  });
});

describe('the list of notices', () => {
  test('shows what the role may see, counts what is unread, and remembers what was read', async () => {
    const { companyId, owner, member } = await newCompany();
    const viewer = await member('viewer');
    await writeNotices(db, [failing(companyId, 31, 'Billing'), failing(companyId, 32, 'Stock')]);
    await settled(companyId);
    const titles = async (browser: typeof viewer.browser): Promise<string[]> =>
      (await browser.ask('listNotices')).notices.map(({ title }: { title: string }) => title);
    expect((await titles(owner.browser)).toSorted()).toEqual(
      [
        `${owner.email} joined as owner`,
        `${viewer.email} joined as viewer`,
        '“Billing” is failing',
        '“Stock” is failing',
      ].toSorted(),
    );
    expect(await titles(viewer.browser)).toHaveLength(2);
    const first = await owner.browser.ask('listNotices', undefined, [], 'limit=1');
    const second = await owner.browser.ask(
      'listNotices',
      undefined,
      [],
      `limit=10&cursor=${first.nextCursor}`,
    );
    expect(second.notices).toHaveLength(3);
    expect(first.unread).toBe(4);
    await owner.browser.ask('readNotices', { upTo: first.notices[0].id });
    expect((await owner.browser.ask('listNotices')).unread).toBe(0);
    expect((await viewer.browser.ask('listNotices')).unread).toBe(2);
    // Another company's.
    const other = await newCompany();
    await other.owner.browser.ask('readNotices', { upTo: first.notices[0].id });
    await settled(other.companyId);
    expect((await other.owner.browser.ask('listNotices')).unread).toBe(1);
  });
});

test('a key that used most of a limit, or was over it, is told once a day, with its limit', async () => {
  const { companyId, owner } = await newCompany();
  const { id } = await owner.browser.ask('createApiKey', { name: 'Zapier', scopes: ['admin'] });
  const minute = new Date(Math.floor(Date.now() / 60_000) * 60_000);
  await rowsOf('INSERT INTO request_minutes VALUES (?, ?, ?, ?, 48, 0, 0, 0)', companyId, minute, id, 'read');
  await rowsOf(
    'INSERT INTO request_minutes VALUES (?, ?, ?, ?, 48, 0, 0, 0)',
    companyId,
    minute,
    id,
    'write',
  );
  const overCompany = await newCompany();
  const bridge = await overCompany.owner.browser.ask('createApiKey', { name: 'SAP', scopes: ['admin'] });
  await rowsOf(
    'INSERT INTO request_minutes VALUES (?, ?, ?, ?, 60, 35, 0, 0)',
    ...[overCompany.companyId, minute, bridge.id, 'read'],
  );
  // A process looks when it starts.
  await world.startAccess({ mail, gatherMs: 0 });
  await world.startAccess({ mail, gatherMs: 0 });
  await expect.poll(() => subjectsTo(owner.email)).toContain('“Zapier” is near its read limit · Acme');
  const refused = '“SAP” was over its read limit · Acme';
  await expect.poll(() => subjectsTo(overCompany.owner.email)).toContain(refused);
  expect(mailsTo(overCompany.owner.email).find(({ subject }) => subject === refused)!.text).toContain(
    '35 of 95 requests in the minute of',
  );
  await settled(companyId);
  const told = mailsTo(owner.email).filter(({ subject }) => subject.includes('Zapier'));
  expect(told).toHaveLength(1);
  expect(told[0]!.text).toContain('It made 48 of 60 requests');
});

test('a key that is about to expire is told a week and a day before, each once, and never on the day of its creation', async () => {
  const { companyId, owner } = await newCompany();
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  for (const [name, days, age] of [
    ['Weekly', 6.5, 30],
    ['Daily', 0.5, 30],
    ['Short', 6.5, 0],
    ['Later', 20, 30],
  ] as const) {
    const { id } = await owner.browser.ask('createApiKey', {
      ...{ name, scopes: ['admin'], expiresUtc: inDays(days) },
    });
    await rowsOf('UPDATE api_keys SET created_utc = created_utc - INTERVAL ? DAY WHERE id = ?', age, id);
  }
  await Promise.all([1, 2].map(() => world.startAccess({ mail, gatherMs: 0 })));
  const about = (name: string) => mailsTo(owner.email).filter(({ text }) => text.includes(`“${name}”`));
  await expect.poll(() => [about('Weekly').length, about('Daily').length]).toEqual([1, 1]);
  // A day before, it is told again; what was told already is not.
  await rowsOf(
    `UPDATE api_keys SET expires_utc = UTC_TIMESTAMP(3) + INTERVAL 12 HOUR WHERE company_id = ? AND name = 'Weekly'`,
    companyId,
  );
  await Promise.all([1, 2].map(() => world.startAccess({ mail, gatherMs: 0 })));
  await expect.poll(() => about('Weekly').length).toBe(2);
  await settled(companyId);
  expect(['Daily', 'Short', 'Later'].map((name) => about(name).length)).toEqual([1, 0, 0]);
});
