import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** How a link is cut: connections end and no new ones are taken, or nothing comes through any more. */
export type Cut = 'refused' | 'silent';

/** The way from one part of the cluster to another: a TCP proxy of its own. */
export interface Link {
  readonly from: string;
  readonly to: string;
  cut(how: Cut): Promise<void>;
  /** What was held back by a silent cut arrives now, as it does on a network that comes back. */
  heal(): Promise<void>;
}

export interface Links {
  /** The port at which `from` reaches the `to` that listens on `target`; the same whenever it is asked for. */
  port(from: string, to: string, target: number): Promise<number>;
  /** All links that go from one name to another; a pattern matches from its beginning to its end. */
  between(from: RegExp, to: RegExp): readonly Link[];
  close(): Promise<void>;
}

const host = '127.0.0.1';
/** Below the ports that the kernel gives out, so that a link that is refused finds its own free again. */
const [firstPort, lastPort] = [20_000, 30_000];

export const openLinks = (): Links => {
  const links = new Map<string, ProxiedLink>();
  return {
    port: async (from, to, target) => {
      const name = `${from} ${to}`;
      const known = links.get(name);
      if (known) {
        known.aim(target);
        return known.port;
      }
      const link = await openLink(from, to, target);
      links.set(name, link);
      return link.port;
    },
    between: (from, to) => {
      const found = [...links.values()].filter((link) => whole(from, link.from) && whole(to, link.to));
      if (found.length === 0) throw new Error(`there is no link from ${from} to ${to}`);
      return found;
    },
    close: async () => {
      await Promise.all([...links.values()].map((link) => link.close()));
    },
  };
};

const whole = (pattern: RegExp, name: string): boolean => pattern.exec(name)?.[0] === name;

interface ProxiedLink extends Link {
  readonly port: number;
  aim(target: number): void;
  close(): Promise<void>;
}

const openLink = async (from: string, to: string, firstTarget: number): Promise<ProxiedLink> => {
  const pairs = new Set<Pair>();
  let target = firstTarget;
  let silent = false;
  const take = (outer: Socket): void => {
    const pair = joinPair(outer, () => connect(target, host), silent);
    pairs.add(pair);
    void pair.ended.then(() => pairs.delete(pair));
  };
  let server: Server | undefined = await listenSomewhere(take);
  const port = portOf(server);

  const refuse = async (): Promise<void> => {
    const closing = server;
    server = undefined;
    for (const pair of pairs) pair.reset();
    if (!closing) return;
    const closed = once(closing, 'close');
    closing.close();
    await closed;
  };
  return {
    from,
    to,
    port,
    aim: (next) => {
      target = next;
    },
    cut: async (how) => {
      if (how === 'refused') return refuse();
      silent = true;
      for (const pair of pairs) pair.hold();
    },
    heal: async () => {
      silent = false;
      for (const pair of pairs) pair.release();
      server ??= await listen(port, take);
    },
    close: refuse,
  };
};

/** Two sockets whose data goes from one to the other. */
interface Pair {
  readonly ended: Promise<void>;
  /** Lets nothing through, the end of a connection included. */
  hold(): void;
  release(): void;
  reset(): void;
}

const joinPair = (outer: Socket, reach: () => Socket, held: boolean): Pair => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const gone = new Set<Socket>();
  let inner: Socket | undefined;
  let holding = held;

  const other = (socket: Socket): Socket | undefined => (socket === outer ? inner : outer);
  const pass = (socket: Socket): void => {
    socket.setNoDelay();
    socket.on('data', (data) => {
      if (other(socket)?.write(data) === false) socket.pause();
    });
    socket.on('drain', () => holding || other(socket)?.resume());
    socket.on('error', () => {});
    socket.on('close', () => {
      gone.add(socket);
      if (!holding) finish();
    });
  };
  const open = (): void => {
    inner = reach();
    pass(inner);
    outer.resume();
  };
  const finish = (): void => {
    outer.destroy();
    inner?.destroy();
    end();
  };

  pass(outer);
  if (holding) outer.pause();
  else open();
  return {
    ended,
    hold: () => {
      holding = true;
      outer.pause();
      inner?.pause();
    },
    release: () => {
      if (!holding) return;
      holding = false;
      if (gone.size > 0) return finish();
      if (!inner) return open();
      outer.resume();
      inner.resume();
    },
    reset: () => {
      outer.resetAndDestroy();
      inner?.resetAndDestroy();
      end();
    },
  };
};

const listen = async (port: number, take: (socket: Socket) => void): Promise<Server> => {
  const server = createServer(take);
  await once(server.listen(port, host), 'listening');
  return server;
};

const listenSomewhere = async (take: (socket: Socket) => void): Promise<Server> => {
  for (let tries = 0; tries < 100; tries++) {
    const port = firstPort + Math.floor(Math.random() * (lastPort - firstPort));
    const server = await listen(port, take).catch(() => undefined);
    if (server) return server;
  }
  throw new Error(`no port between ${firstPort} and ${lastPort} is free`);
};

const portOf = (server: Server): number => {
  const address = server.address();
  if (address && typeof address === 'object') return address.port;
  throw new Error('it does not listen');
};
