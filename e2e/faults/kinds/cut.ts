import { eventStream } from '@causeway/proto';
import type { Bounds } from '../bounds.ts';
import type { Fault, Scene } from '../fault.ts';
import type { Cut, Link } from '../links.ts';

const cutFor = 20_000;

const cut = (
  what: string,
  how: Cut,
  choose: (scene: Scene) => Promise<readonly Link[]> | readonly Link[],
  { lastsMs = cutFor, ...more }: Partial<Fault> = {},
): Fault => {
  let links: readonly Link[] = [];
  return {
    name: `cut ${what}, ${how}`,
    act: async (scene) => {
      links = await choose(scene);
      await Promise.all(links.map((link) => link.cut(how)));
      return undefined;
    },
    lastsMs,
    heal: async () => void (await Promise.all(links.map((link) => link.heal()))),
    ...more,
  };
};

const bounds: Bounds = { failingForMs: 1_000 };

const anyNats = /nats-\d/;

const cutsOf = (how: Cut): readonly Fault[] => [
  // Nothing can be done without it.
  cut('everyone from MySQL', how, ({ links }) => links.between(/.*/, /mysql/), {
    mayRepeat: true,
    bounds: { failingForMs: cutFor + 1_000 },
  }),
  cut('crm-1 from MySQL', how, ({ links }) => links.between(/crm-1/, /mysql/), { bounds }),
  cut('dispatcher-1 from MySQL', how, ({ links }) => links.between(/dispatcher-1/, /mysql/), {
    mayRepeat: true,
    bounds: { failedAtMost: 0, latestDeliveryMs: 3_000 },
  }),
  // A gateway without NATS can admit nothing.
  cut('gateway-1 from NATS', how, ({ links }) => links.between(/gateway-1/, anyNats)),
  ...['crm-1', 'webhooks-1'].map((name) =>
    cut(`${name} from NATS`, how, ({ links }) => links.between(new RegExp(name), anyNats), { bounds }),
  ),
  cut('dispatcher-1 from NATS', how, ({ links }) => links.between(/dispatcher-1/, anyNats), {
    mayRepeat: true,
    bounds: { failedAtMost: 0, latestDeliveryMs: 3_000 },
  }),
  cut(
    'a NATS server from the others',
    how,
    async ({ links, leaderOf }) => {
      const leader = new RegExp(await leaderOf(eventStream));
      return [...links.between(leader, anyNats), ...links.between(anyNats, leader)];
    },
    { bounds, mayRepeat: true },
  ),
  cut(
    'a NATS server from its clients',
    how,
    async ({ links, leaderOf }) => links.between(/(?!nats).*/, new RegExp(await leaderOf(eventStream))),
    { bounds, mayRepeat: true },
  ),
  // The longest restart of a receiver that does not disable its subscription.
  cut('dispatchers from the receiver', how, ({ links }) => links.between(/dispatchers/, /receiver/), {
    lastsMs: 10_000,
    receiverCut: true,
  }),
];

/** The network between two parts fails for a while. */
export const cuts: readonly Fault[] = [...cutsOf('refused'), ...cutsOf('silent')];
