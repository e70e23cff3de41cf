import { portalBasePath } from '@causeway/proto';
import { testReceiver } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { clientAddress, openTeam, type Team } from '../api/support/portal.ts';
import { openWorld, type Reply } from '../api/support/world.ts';
import { createDice } from './dice.ts';
import type { Standing } from './judge.ts';
import { createLearned } from './learned.ts';
import { requestsOr, seed, timeoutFor, told } from './options.ts';
import type { MadeRequest } from './requests.ts';
import { fuzz } from './run.ts';
import { readPortal } from './surface.ts';

const requests = requestsOr(1_500);
const timeoutMs = timeoutFor(requests);

const world = await openWorld();
const receiver = await testReceiver({ counting: true });

/** What ends the session that everything is asked with. */
const ends = new Set(['signOut', 'signIn', 'revokeSession']);
const described = readPortal();
const endpoints = described.filter(({ id }) => !ends.has(id));

const strangeCookies = [
  undefined,
  '',
  'causeway=',
  'causeway=x',
  `causeway=${'A'.repeat(43)}`,
  '__Host-causeway=x',
  ';;=',
];
const elsewhere = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { origin: 'https://evil.example' },
];

test(
  'Requests made from the table of the portal’s operations get no answer that it does not name',
  async () => {
    const dice = createDice(seed);
    const teams = [await openTeam(world), await openTeam(world)];
    const send = async (made: MadeRequest, standing: Standing, who: number): Promise<Reply> => {
      const team = teams[who] as Team;
      const { endpoint, method, path, headers, body } = made;
      // Who has no session comes from elsewhere at times; for a change either reads as refused.
      const from = { 'sec-fetch-site': 'same-origin' };
      const cookie =
        standing === 'unknown' ? dice.pick(strangeCookies) : `causeway=${team.owner.browser.cookie()}`;
      const reply = await world.ask(`/${path}`, {
        method,
        headers: {
          'x-forwarded-for': clientAddress(),
          ...(standing === 'unscoped' && endpoint.method !== 'GET' ? dice.pick(elsewhere) : from),
          ...(cookie !== undefined && { cookie }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body }),
      });
      return reply;
    };
    const { findings, statuses } = await fuzz({
      base: `${portalBasePath}/`,
      asksFirst: false,
      described,
      requests,
      // A session has 32 places.
      width: 16,
      dice,
      endpoints,
      learned: teams.map(() => createLearned(receiver.url)),
      send,
    });
    expect(findings.join('\n\n'), `seed ${seed}\n${told(statuses)}`).toBe('');
    for (const { owner } of teams) expect((await owner.browser.ask('GET', '/session')).status).toBe(200);
  },
  timeoutMs,
);
