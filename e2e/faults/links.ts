import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How a link is cut. `refused`: connections are closed and new ones refused. `silent`: no data passes any more. */
export type Cut = 'refused' | 'silent';

/** The connection from one part of the cluster to another, through a TCP proxy of its own. */
export interface Link {
  readonly from: string;
  readonly to: string;
  cut(how: Cut): Promise<void>;
  /** Data that a silent cut held back arrives now, as on a network that recovers. */
  heal(): Promise<void>;
  /** Opens another address that leads to the same part, on the same port. @returns the address. */
  openSuccessor(): Promise<string>;
  closeSuccessor(): Promise<void>;
  /** Spoils some of the COMMITs that pass; undefined ends it. Of all data, the answer comes late with `late`. */
  disturb(how: Disturbance | undefined): void;
}

/**
 * `lost`: COMMIT arrives, and the connection ends before its answer. `early`: the connection ends at once, and COMMIT arrives
 * a second later. `late`: every answer comes some milliseconds later.
 */
export type Disturbance = 'lost' | 'early' | 'late';

const lateMostMs = 40;
const earlyMs = 900;
/** One in so many COMMITs. */
const commitsSpared = 3;

export interface Links {
  /** The port at which `from` reaches the `to` that listens on `target`. Later calls return the same port. */
  port(from: string, to: string, target: number): Promise<number>;
  /** All links between parts whose whole names match the patterns. */
  between(from: RegExp, to: RegExp): readonly Link[];
  close(): Promise<void>;
}

const host = '127.0.0.1';
const successorHost = '127.0.0.2';
/** Below the ephemeral ports of the kernel, so that the port of a refused link is still free later. */
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
  const successorPairs = new Set<Pair>();
  let target = firstTarget;
  let silent = false;
  let disturbance: Disturbance | undefined;
  const join = (outer: Socket, all: Set<Pair>, held: boolean): void => {
    const pair = joinPair(
      outer,
      () => connect(target, host),
      held,
      () => disturbance,
    );
    all.add(pair);
    void pair.ended.then(() => all.delete(pair));
  };
  const take = (outer: Socket): void => join(outer, pairs, silent);
  const takeOver = (outer: Socket): void => join(outer, successorPairs, false);
  let successor: Server | undefined;
  let server: Server | undefined = await listenSomewhere(take);
  const port = portOf(server);

  const refuse = async (): Promise<void> => {
    const closing = server;
    server = undefined;
    for (const pair of pairs) pair.reset();
    await closeServer(closing);
  };
  const closeSuccessor = async (): Promise<void> => {
    const closing = successor;
    successor = undefined;
    for (const pair of successorPairs) pair.reset();
    await closeServer(closing);
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
    openSuccessor: async () => {
      successor ??= await listen(port, takeOver, successorHost);
      return successorHost;
    },
    closeSuccessor,
    disturb: (how) => {
      disturbance = how;
    },
    close: async () => {
      await Promise.all([refuse(), closeSuccessor()]);
    },
  };
};

let commits = 0;

/** Two sockets that forward their data to each other. */
interface Pair {
  readonly ended: Promise<void>;
  /** Stops all forwarding, including the end of a connection. */
  hold(): void;
  release(): void;
  reset(): void;
}

const joinPair = (
  outer: Socket,
  reach: () => Socket,
  held: boolean,
  disturbance: () => Disturbance | undefined,
): Pair => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const gone = new Set<Socket>();
  let inner: Socket | undefined;
  let holding = held;
  let delayed = 0;

  const other = (socket: Socket): Socket | undefined => (socket === outer ? inner : outer);
  const pass = (socket: Socket): void => {
    socket.setNoDelay();
    let passed = Promise.resolve();
    socket.on('data', (data) => {
      const how = disturbance();
      const isSpoilt =
        socket === outer &&
        how !== undefined &&
        how !== 'late' &&
        /COMMIT/i.test(data.toString('latin1')) &&
        ++commits % commitsSpared === 0;
      if (isSpoilt) return spoil(data, how);
      if (socket === inner && (how === 'late' || delayed > 0)) {
        // In their order.
        delayed++;
        passed = passed
          .then(() => sleep(Math.random() * lateMostMs))
          .then(() => {
            delayed--;
            outer.write(data);
          });
      } else if (other(socket)?.write(data) === false) socket.pause();
    });
    socket.on('drain', () => holding || other(socket)?.resume());
    socket.on('error', () => {});
    socket.on('close', () => {
      gone.add(socket);
      if (!holding) finish();
    });
  };
  const spoil = (data: Buffer, how: Disturbance): void => {
    const server = inner;
    outer.removeAllListeners('close').on('close', () => {});
    outer.resetAndDestroy();
    server?.removeAllListeners('data').resume();
    void sleep(how === 'early' ? earlyMs : 0).then(() => {
      server?.end(data);
      end();
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

const listen = async (port: number, take: (socket: Socket) => void, on = host): Promise<Server> => {
  const server = createServer(take);
  await once(server.listen(port, on), 'listening');
  return server;
};

const closeServer = async (server: Server | undefined): Promise<void> => {
  if (!server) return;
  const closed = once(server, 'close');
  server.close();
  await closed;
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
  throw new Error('the server is not listening');
};
