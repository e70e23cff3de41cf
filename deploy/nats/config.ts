export interface NatsUser {
  readonly name: string;
  readonly password: string;
  /** Absent: no restrictions. */
  readonly permissions?: NatsPermissions;
}

/** Subjects that a user may use; `*` and `>` are NATS's wildcards, `"subject queue"` names a queue group. */
export interface NatsPermissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** May answer any request that it received, on the request's reply subject. */
  readonly answers?: boolean;
}

export interface NatsConfig {
  /** -1 picks a free port and announces it in `portsDir`. */
  readonly port: number;
  readonly monitorPort: number;
  readonly storeDir: string;
  readonly portsDir: string;
  readonly pidFile: string;
  readonly users: readonly NatsUser[];
  /** Absent: a single server. */
  readonly cluster?: NatsMember;
}

/** One server of a cluster on the loopback. */
export interface NatsMember {
  /** Its name in the cluster. */
  readonly name: string;
  /** The port at which the others reach it. */
  readonly port: number;
  /** The ports at which it reaches the others. */
  readonly others: readonly number[];
  /** The password between the servers; only characters that a URL needs not escape. */
  readonly password: string;
}

/** Renders the configuration file of a nats-server on the loopback. JSON is part of its syntax. */
export const renderNatsConfig = (config: NatsConfig): string =>
  `${JSON.stringify(
    {
      listen: `127.0.0.1:${config.port}`,
      http: `127.0.0.1:${config.monitorPort}`,
      ports_file_dir: config.portsDir,
      pid_file: config.pidFile,
      // A body is at most 1 MiB; a frame of several, with their headers, must fit.
      max_payload: 4 * 2 ** 20,
      // A client that stops answering keeps its share of the requests until it is dropped, after nine seconds.
      ping_interval: '3s',
      ping_max: 2,
      jetstream: { store_dir: config.storeDir },
      ...(config.cluster && {
        server_name: config.cluster.name,
        server_tags: [config.cluster.name],
        cluster: cluster(config.cluster),
      }),
      ...(config.users.length === 0 ? {} : { authorization: authorization(config.users) }),
    },
    undefined,
    2,
  )}\n`;

const cluster = ({ port, others, password }: NatsMember) => ({
  name: 'causeway',
  listen: `127.0.0.1:${port}`,
  authorization: { user: 'routes', password, timeout: 3 },
  routes: others.map((other) => `nats-route://routes:${password}@127.0.0.1:${other}`),
  // Clients have the URLs of all servers and use only those.
  no_advertise: true,
});

/** The section with the users and their permissions. */
export const authorization = (users: readonly NatsUser[]) => ({ users: users.map(renderUser) });

const renderUser = ({ name, password, permissions }: NatsUser) => ({
  user: name,
  password,
  ...(permissions && {
    permissions: {
      publish: { allow: permissions.publish },
      subscribe: { allow: permissions.subscribe },
      ...(permissions.answers ? { allow_responses: { max: 1, expires: '1m' } } : {}),
    },
  }),
});
