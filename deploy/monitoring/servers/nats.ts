/** What one NATS server reports about itself; undefined for what it does not know. */
export interface NatsState {
  readonly leaderKnown: boolean | undefined;
  /** Undefined unless it is the leader. */
  readonly peersMissing: number | undefined;
  readonly fileRatio: number;
  readonly memoryRatio: number;
  readonly certificateEndMs: number | undefined;
}

/** Asks the monitoring endpoint of a NATS server. @throws if it does not answer within five seconds */
export const readNats = async (url: string): Promise<NatsState> => {
  const ask = async <Answer>(path: string): Promise<Answer> => {
    const answer = await fetch(new URL(path, url), { signal: AbortSignal.timeout(timeoutMs) });
    if (!answer.ok) throw new Error(`${url}${path} answered ${answer.status}`);
    return (await answer.json()) as Answer;
  };
  const [server, streams] = await Promise.all([ask<Varz>('/varz'), ask<Jsz>('/jsz')]);
  const { meta_cluster: cluster, config } = streams;
  return {
    leaderKnown: cluster && Boolean(cluster.leader),
    peersMissing: cluster?.leader === server.server_name ? missing(cluster) : undefined,
    fileRatio: streams.storage / config.max_storage,
    memoryRatio: streams.memory / config.max_memory,
    certificateEndMs: server.tls_cert_not_after ? Date.parse(server.tls_cert_not_after) : undefined,
  };
};

const missing = ({ cluster_size, replicas = [] }: Cluster): number =>
  Math.max(
    0,
    cluster_size - 1 - replicas.filter(({ current, offline }) => current && offline !== true).length,
  );

const timeoutMs = 5_000;

interface Varz {
  readonly server_name: string;
  readonly tls_cert_not_after?: string;
}

interface Jsz {
  readonly memory: number;
  readonly storage: number;
  readonly config: { readonly max_memory: number; readonly max_storage: number };
  /** Only in a cluster. */
  readonly meta_cluster?: Cluster;
}

interface Cluster {
  readonly leader?: string;
  readonly cluster_size: number;
  /** The other servers. Only the leader knows their state. */
  readonly replicas?: readonly { readonly current: boolean; readonly offline?: boolean }[];
}
