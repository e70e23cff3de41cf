import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { laneSubject, type OperatorLane, replyPrefix } from '@causeway/proto/subjects';
import {
  type Bus,
  ConfigError,
  childTraceparent,
  connectBus,
  createLaneClient,
  LaneError,
  type NatsFiles,
  natsAddress,
  randomHex,
  TlsProblem,
} from '@causeway/runtime/client';

/** The cluster or one of its services cannot be reached, or gave no answer. The message says what to do. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** Revoking waits up to five seconds for a gateway that has just died, and may repair the key table first. */
const budgetMs = 20_000;

export interface Cluster {
  /** Where the cluster was found, for error messages; never holds a password. */
  readonly natsUrl: string;
  readonly files?: NatsFiles;
  readonly source: string;
}

/** The cluster of STACK_HOME, else NATS_URL, else this folder's `.stack`. @throws Unreachable if none runs */
export const findCluster = (env: NodeJS.ProcessEnv, root: string): Cluster => {
  if (!env.STACK_HOME && env.NATS_URL) {
    const { NATS_CA_FILE, NATS_CERT_FILE, NATS_KEY_FILE } = env;
    const { url, files } = natsAddress({
      NATS_URL: env.NATS_URL,
      NATS_CA_FILE,
      NATS_CERT_FILE,
      NATS_KEY_FILE,
    });
    return { natsUrl: url, files, source: 'NATS_URL' };
  }
  const home = resolve(root, env.STACK_HOME || '.stack');
  try {
    const { natsUrl } = JSON.parse(readFileSync(join(home, 'stack.json'), 'utf8')) as Cluster;
    return { natsUrl, source: home };
  } catch {
    throw new Unreachable(
      `no cluster runs in ${home}: start one with \`npm start\`, or set STACK_HOME or NATS_URL`,
    );
  }
};

interface OperatorAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** @throws Unreachable */
export const call = async (
  cluster: Cluster,
  laneName: OperatorLane,
  operation: string,
  body: Readonly<Record<string, unknown>>,
): Promise<OperatorAnswer> => {
  const lane = await openLane(cluster, laneName);
  try {
    return await lane.ask(operation, body);
  } finally {
    await lane.close();
  }
};

/** @throws Unreachable */
export const openLane = async ({ natsUrl, files = {}, source }: Cluster, laneName: OperatorLane) => {
  const instance = `operator-${randomHex(4)}`;
  let bus: Bus;
  try {
    bus = await connectBus({ url: natsUrl, files, name: 'operator', instance });
  } catch (error) {
    if (error instanceof Error && error.name.startsWith('Authorization'))
      throw new Unreachable(`the NATS server of ${source} does not know this user: check ${source}`);
    if (error instanceof ConfigError || error instanceof TlsProblem) throw new Unreachable(error.message);
    throw new Unreachable(`the cluster of ${source} does not answer: is it running? \`npm start\` starts it`);
  }
  const lane = createLaneClient({
    bus,
    lane: laneName,
    subject: laneSubject(laneName),
    replySubject: `${replyPrefix('operator')}.${instance}`,
  });
  const ask = async (operation: string, body: Readonly<Record<string, unknown>>): Promise<OperatorAnswer> => {
    try {
      const answer = await lane.request({
        operation,
        tenant: 0,
        caller: 0,
        requestId: instance,
        traceparent: childTraceparent(''),
        budgetMs,
        params: [],
        query: '',
        body: Buffer.from(JSON.stringify(body)),
      });
      return { status: answer.status, body: JSON.parse(answer.body.toString()) as OperatorAnswer['body'] };
    } catch (error) {
      if (error instanceof LaneError) throw new Unreachable(sentences(serviceOf[laneName])[error.code]);
      throw error;
    }
  };
  const close = async (): Promise<void> => {
    lane.close();
    await bus.close();
  };
  return { ask, close };
};

const serviceOf = { operator: 'access', 'operator-crm': 'crm', 'operator-webhooks': 'webhooks' } as const;

const sentences = (service: string): Readonly<Record<LaneError['code'], string>> => ({
  absent: `the cluster runs, but its ${service} service does not: look at its log, or start it again`,
  disconnected: 'the connection to the cluster was lost before anything was asked',
  overloaded: `the ${service} service has too much to do; try again`,
  timeout: `the ${service} service did not answer in time; what was asked may have been done`,
  too_large: 'that is too long to be sent',
  closed: 'the connection was closed; what was asked may have been done',
});
