import { expect, test } from 'vitest';
import { bodyOf, commands } from './commands.ts';
import { helpAll, helpFor, plain, readArguments } from './run.ts';

const requestOf = (line: string) => {
  const request = readArguments(line.split(' '));
  if (request.kind !== 'run') throw new Error('not a command');
  return {
    operation: request.command.operation,
    body: bodyOf(request.command, request.values),
    json: request.json,
  };
};

test.each([
  ['company create --name Acme', 'createCompany', { name: 'Acme' }],
  ['company list', 'listCompanies', {}],
  ['company top', 'listDeliveriesByCompany', {}],
  ['company close --company 17', 'closeCompany', { company_id: 17 }],
  ['company open --company 17', 'openCompany', { company_id: 17 }],
  ['company export --company 17 --out file', 'exportCompany', { company_id: 17 }],
  ['company status --company 17', 'getCompanyStatus', { company_id: 17 }],
  [
    'key create --company 1001 --name k --scopes admin,events:read',
    'createKey',
    { company_id: 1001, name: 'k', scopes: ['admin', 'events:read'] },
  ],
  [
    'key create --company=1001 --name=k --scopes=admin,',
    'createKey',
    { company_id: 1001, name: 'k', scopes: ['admin'] },
  ],
  ['key list', 'listKeys', {}],
  ['key list --company 1001', 'listKeys', { company_id: 1001 }],
  ['key revoke --id 7', 'revokeKey', { id: 7 }],
  [
    'limits set --company 1001 --read 5 --write default',
    'setLimits',
    { company_id: 1001, read: 5, write: null },
  ],
  [
    'limits set --company 1001 --write 2000 --until 2026-01-15T18:00Z',
    'setLimits',
    { company_id: 1001, write: 2000, until: '2026-01-15T18:00:00.000Z' },
  ],
  ['limits set --company 1001 --until now', 'setLimits', { company_id: 1001, until: null }],
  [
    'portal-owner reset --company 1001 --email ada@example.com',
    'resetPortalOwner',
    { company_id: 1001, email: 'ada@example.com' },
  ],
  [
    'portal-owner reset --company 1001 --email ada@example.com --two-factor',
    'resetPortalOwner',
    { company_id: 1001, email: 'ada@example.com', two_factor: true },
  ],
  ['secrets reencrypt', 'reencryptSecrets', {}],
  ['factors reencrypt', 'reencryptFactors', {}],
  ['limits set --key 7 --admin 1', 'setLimits', { id: 7, admin: 1 }],
  ['limits set --key 7 --lookup 200', 'setLimits', { id: 7, lookup: 200 }],
])('%s calls %s', (line, operation, body) => {
  expect(requestOf(line)).toEqual({ operation, body, json: false });
  expect(requestOf(`${line} --json`)).toEqual({ operation, body, json: true });
});

test.each([
  ['key', '"key create" or "key list" or "key revoke"?'],
  ['key make', 'there is no command "key make"; "key create" or "key list" or "key revoke"?'],
  ['keys list', 'there is no command "keys"'],
  ['--json', 'a command comes first, not --json'],
  ['company create', '--name is required'],
  ['key revoke --id', "option '--id <value>' argument missing"],
  ['key revoke --id 1 --id 2', '--id is given twice'],
  ['key revoke --id=1 2', "unexpected argument '2'"],
  ['key revoke --id 1 --force', "unknown option '--force'"],
  ['key revoke --id seven', '--id takes a positive whole number, not "seven"'],
  ['key revoke --id 0', '--id takes a positive whole number, not "0"'],
  ['key revoke --id 99999999999999999999', '--id takes a positive whole number, not "99999999999999999999"'],
  ['limits set --read 5', 'either --company or --key is required'],
  ['limits set --key 1 --company 1 --read 5', 'either --company or --key is required'],
  ['limits set --key 1', 'at least one of --read, --write, --admin and --lookup is required'],
  ['limits set --company 1 --read 5 --until soon', '--until takes a time in ISO 8601, not "soon"'],
  ['limits set --key 1 --read -5', "option '--read' argument is ambiguous"],
  ['limits set --key 1 --read none', '--read takes a positive whole number or `default`, not "none"'],
])('%s is refused: %s', (line, sentence) => {
  expect(() => requestOf(line)).toThrow(sentence);
});

test('the help lists every command, and each command every option of its own', () => {
  for (const command of commands) {
    expect(helpAll()).toContain(`  ${command.words.join(' ')} `);
    const help = helpFor(command);
    for (const name of [...Object.keys(command.options), 'json', 'help'])
      expect(help).toContain(`  --${name}`);
    expect(readArguments([...command.words, '--help'])).toEqual({ kind: 'help', command });
  }
  expect(readArguments([])).toEqual({ kind: 'help' });
});

test('answers are plain text: aligned lines, and a table of each list without its empty columns', () => {
  expect(
    plain({
      company_id: 17,
      until_utc: '2026-03-01T09:30:00.000Z',
      limits: { read: 5, write: null },
      subscriptions: [
        { id: 1, enabled: true, disabled_reason: null, oldest: { event_id: 4711 } },
        { id: 2, enabled: false, disabled_reason: null, oldest: null },
      ],
      keys: [],
    }),
  ).toBe(`company id    17
until (UTC)   2026-03-01 09:30
limits read   5
limits write  –

id  enabled  oldest event id
1   yes      4711
2   no       –

No keys.`);
});
