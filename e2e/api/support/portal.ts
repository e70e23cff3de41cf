import { randomInt, randomUUID } from 'node:crypto';
import { type EventType, type Role, roles } from '@causeway/proto';
import type { Json, Reply, World } from './world.ts';

/**
 * A client that acts like a browser at the portal: it keeps its cookie, and its requests carry the headers for the
 * site and the client address.
 */
export interface Browser {
  /** @param path below `/portal/api/v1`. A body is sent as JSON. */
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply>;
  signIn(member: Credentials, more?: Readonly<Record<string, unknown>>): Promise<Reply>;
  /** The cookie's value. */
  cookie(): string | undefined;
  setCookie(value: string | undefined): void;
  /** The cookie that makes the browser a known device. */
  device(): string | undefined;
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

export const goodPassword = 'seven otters juggle lanterns';

const sameOrigin = { 'sec-fetch-site': 'same-origin' };

const unusedAddress = (): string => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}`;
let address = unusedAddress();

/** The client address of all browsers of this file, as a proxy in front of the cluster would set it. */
export const clientAddress = (): string => address;

/**
 * Switches the browsers of this file to an unused client address. Failed sign-ins are counted by address, so those of
 * earlier tests and other files cause no delay.
 */
export const moveElsewhere = (): void => {
  address = unusedAddress();
};

export const openBrowser = (world: World): Browser => {
  let cookie: string | undefined;
  let device: string | undefined;
  const ask: Browser['ask'] = async (method, path, body, headers = sameOrigin) => {
    const reply = await world.ask(`//portal/api/v1${path}`, {
      method,
      headers: {
        'x-forwarded-for': address,
        ...headers,
        ...((cookie ?? device) !== undefined && { cookie: cookies() }),
        ...(body !== undefined && !('content-type' in headers) && { 'content-type': 'application/json' }),
      },
      body,
    });
    const set = String(reply.headers['set-cookie'] ?? '');
    const [, value] = /^causeway=([^;]*)/.exec(set) ?? [];
    if (value !== undefined) cookie = value === '' ? undefined : value;
    device = /causeway-device=([^;]*)/.exec(set)?.[1] ?? device;
    return reply;
  };
  const cookies = (): string =>
    [cookie && `causeway=${cookie}`, device && `causeway-device=${device}`].filter(Boolean).join('; ');
  return {
    ask,
    signIn: ({ email, password }, more) => ask('POST', '/session', { email, password, ...more }),
    cookie: () => cookie,
    device: () => device,
    setCookie: (value) => {
      cookie = value;
    },
  };
};

export interface Member extends Credentials {
  readonly browser: Browser;
  readonly id: number;
}

export interface Team {
  readonly companyId: number;
  readonly owner: Member;
  /** Adds a member with this role, who was invited by the owner, has joined and is signed in. */
  join(role: Role): Promise<Member>;
}

/** Creates a company for this test with an owner who is signed in. */
export const openTeam = async (world: World): Promise<Team> => {
  const company = await world.company();
  const email = `owner-${randomUUID()}@example.com`;
  await world.operator.ask('createPortalOwner', { company_id: company.id, email, password: goodPassword });
  const browser = openBrowser(world);
  const { json } = await browser.signIn({ email, password: goodPassword });
  const owner: Member = { email, password: goodPassword, browser, id: json.user.id };
  return {
    companyId: company.id,
    owner,
    join: async (role) => {
      const address = `${role}-${randomUUID()}@example.com`;
      const invited = await browser.ask('POST', '/team/invitations', { email: address, role });
      const token = String(invited.json.link).split('#')[1];
      const joined = openBrowser(world);
      const accepted = await joined.ask('POST', '/invitation/accept', {
        token,
        name: `Test ${role}`,
        password: goodPassword,
      });
      return { email: address, password: goodPassword, browser: joined, id: accepted.json.user.id };
    },
  };
};

/** Makes a test event with a key of the company. */
export const makeEvent = async (
  world: World,
  { companyId: company_id }: Pick<Team, 'companyId'>,
  type: EventType,
  payload?: object,
): Promise<Json> => {
  const { value: key } = await world.operator.ask('createKey', {
    company_id,
    name: 'test',
    scopes: ['admin'],
  });
  const made = await world.ask('/events/test', { method: 'POST', key, body: { type, payload } });
  if (made.status !== 202) throw new Error(`the event was not made: ${made.text}`);
  return made.json;
};

/** One signed-in member of each role. */
export const openEveryRole = async (team: Team): Promise<Readonly<Record<Role, Browser>>> => {
  const browsers: [Role, Browser][] = [];
  for (const role of roles)
    browsers.push([role, role === 'owner' ? team.owner.browser : (await team.join(role)).browser]);
  return Object.fromEntries(browsers) as Record<Role, Browser>;
};
