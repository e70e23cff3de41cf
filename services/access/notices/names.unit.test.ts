import { noticeKinds } from '@causeway/proto';
import { describe, expect, test } from 'vitest';
import { linkless, nameOf, strangersName } from './names.ts';
import { wordsOf } from './words.ts';

const hostile = [
  'confirm at http://evil.example/x',
  'HTTPS://EVIL.EXAMPLE',
  'evil.example/login',
  'www.evil.example',
  'ｅｖｉｌ．ｅｘａｍｐｌｅ／ｘ',
  'evil。example',
  'evil｡example',
  'evil․example',
  'evil\u200b.\u200bexample',
  'evil.\u2060example',
  'ev\u00adil.example',
  'evil.\u202eexample',
  'evil⁄x http:∕∕evil.example',
  'http：／／evil.example',
  '192.168.10.1/x',
  '💩.la',
  'a.b.example',
  'пример.рф',
  'http://localhost/x',
  'evil.example,evil.example',
  'x\r\nhttp://evil.example\u2028evil.example',
];
const linkLike = /:\/\/|[^\s.][.．。｡․﹒](?:[\p{L}\p{N}-]+\.)*[\p{L}][\p{L}\p{N}-]|(?:\d{1,3}\.){3}\d/u;

describe.each(hostile)('%j', (name) => {
  test('is no link in any notice', () => {
    for (const kind of noticeKinds)
      for (const action of ['member.joined', 'member.role_changed', 'passkey.added']) {
        const detail = JSON.stringify({ action, by: name, after: 'viewer', reason: '410 Gone' });
        const row = { notice_id: 1, kind, subject_id: 1, user_id: null, created_utc: new Date(), detail };
        const { title, text } = wordsOf({ ...row, subject_name: name });
        for (const shown of [linkless(title), linkless(text)]) {
          expect(shown.normalize('NFKC').replace(/\p{DI}/gu, '')).not.toMatch(linkLike);
          expect(shown).not.toMatch(/[\n\r\u2028]/);
        }
      }
  });

  test('is no link in a mail to a stranger', () => {
    const shown = strangersName(name);
    expect(shown.normalize('NFKC').replace(/\p{DI}/gu, '')).not.toMatch(linkLike);
  });
});

test.each([
  'J.R. Smith',
  'Acme Inc.',
  'ERP v2.1',
  'Sales/Marketing',
  'شركة',
  'client.created',
  'И. О. Петров',
])('the name %j stays as it is', (name) => {
  expect(linkless(nameOf(name)).replace(/[\u2068\u2069]/g, '')).toBe(name);
});

test('an address of a member is one for colleagues, and none for strangers', () => {
  expect(linkless('grace@acme.example is now owner')).toBe('grace@acme.example is now owner');
  expect(linkless('evil.example/x@acme.example')).not.toMatch(linkLike);
  expect(strangersName('support@evil.example')).toBe('support at evil[.]example');
  expect(strangersName('support＠evil．example')).toBe('support at evil[.]example');
});

test('a name that runs from right to left stays isolated', () => {
  expect(linkless(nameOf('גילוי evil.example'))).toBe('\u2068גילוי evil[.]example\u2069');
});
