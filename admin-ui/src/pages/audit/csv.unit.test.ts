import { expect, test } from 'vitest';
import { csvOf } from './csv.ts';

const entry = (name: string) => ({
  id: 7,
  createdUtc: '2026-01-15T09:30:00.000Z',
  actor: { kind: 'user', id: 3, name },
  action: 'profile.changed',
  target: { kind: 'member', id: '3', name: 'a "b", c' },
  before: null,
  after: { name },
  address: '203.0.113.7',
  userAgent: null,
  requestId: 'r-1',
});
const csv = (name: string): string => csvOf([entry(name)] as Parameters<typeof csvOf>[0]);

test('is a table with quoted cells and a byte order mark', () => {
  const [head, row] = csv('Łukasz').split('\r\n');
  expect(head).toBe(
    '\uFEFF"id","time_utc","actor_kind","actor_id","actor","action","target_kind","target_id","target","before","after","address","browser","request_id"',
  );
  expect(row).toBe(
    '"7","2026-01-15T09:30:00.000Z","user","3","Łukasz","profile.changed","member","3","a ""b"", c","","{""name"":""Łukasz""}","203.0.113.7","","r-1"',
  );
});

test.each([
  '=1+2',
  '+1',
  '-1',
  '@SUM(A1)',
  '\t=1',
  ' =HYPERLINK("http://evil.example")',
  '\r=1',
  '\n@A1',
  '＝1+2',
  '\u00A0－1',
])('makes no formula of %j', (name) => expect(csv(name)).toContain(`"'${name.replaceAll('"', '""')}"`));
