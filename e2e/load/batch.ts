import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openOperator } from '../../deploy/local/demo.ts';
import { freePort } from '../../deploy/local/ports.ts';
import { type BenchContext, makeHome, startBenchCluster, startBenchMysql } from './driver.ts';
import { describeMachine, publish, seconds, whole } from './report.ts';

/** As many as the default limit allows in a minute: a hundred batches. */
const peoplePerMinute = 10_000;
const itemsEach = 100;
const updatingLanes = 2;
const creatingLanes = 3;
const minuteMs = 60_000;

/**
 * Measures how long one key at the default limits takes for partial updates that name people by `external_id` and say which
 * version they change, while two batches are under way.
 */
export const benchBatch = async (context: BenchContext): Promise<void> => {
  const { env, onEnd, say, options, toolchain } = context;
  const people = options.minutes * peoplePerMinute;
  const home = makeHome(onEnd);
  say('starting MySQL and the cluster …');
  const mysql = await startBenchMysql(home, toolchain.mysqld, onEnd);
  const { stack } = await startBenchCluster({
    home,
    env: { ...env, MYSQL_URL: mysql.url },
    port: await freePort(),
    args: options.startArgs,
    onEnd,
  });
  const operator = await openOperator(stack.natsUrl);
  onEnd(() => operator.close());
  const { company_id } = await operator.ask('createCompany', { name: 'Bench' });
  const scopes = ['integrations:read', 'integrations:write'] as const;
  const { value: key } = await operator.ask('createKey', { company_id, name: 'bench', scopes: [...scopes] });

  say(`creating ${whole(people)} people without a limit …`);
  await operator.ask('setLimits', { company_id, write: 1_000_000 });
  const batches = { url: `${stack.baseUrl}/api/v1/integrations/leads/batch`, key, people };
  const created = await sendAll({
    ...batches,
    mode: 'create',
    lanes: creatingLanes,
    expected: 201,
    itemOf: (at) => ({
      external_id: `p-${at}`,
      first_name: 'Ada',
      last_name: `L${at}`,
      email: `a${at}@x.org`,
    }),
  });
  await operator.ask('setLimits', { company_id, write: null });

  say('updating them at the default limits …');
  await sleep(minuteMs - (Date.now() % minuteMs));
  const updated = await sendAll({
    ...batches,
    mode: 'update',
    lanes: updatingLanes,
    expected: 200,
    itemOf: (at) => ({ external_id: `p-${at}`, if_version: created.versions[at], city: `City ${at % 50}` }),
  });
  publish('batch', options, howMeasured, [
    await describeMachine({ 'nats-server': toolchain.natsServer, MySQL: toolchain.mysqld }),
    {
      title: 'Partial updates by external_id and if_version',
      columns: ['people', 'took', 'goal', 'answers that were 429'],
      rows: [[whole(people), seconds(updated.tookMs), `≤ ${options.minutes * 60} s`, whole(updated.tooMany)]],
    },
  ]);
};

const howMeasured = `
One key of a company at the default limits sends batches of ${itemsEach}, ${updatingLanes} at once, from the first second of a minute
on, and waits after a 429 as \`Retry-After\` says. Every item is checked to have been done.
`;

interface Sending {
  readonly url: string;
  readonly key: string;
  readonly people: number;
  readonly mode: 'create' | 'update';
  readonly lanes: number;
  /** The status of each item. */
  readonly expected: number;
  readonly itemOf: (at: number) => object;
}

/** @throws if an item gets another status than the expected one */
const sendAll = async ({ url, key, people, mode, lanes, expected, itemOf }: Sending) => {
  const versions: number[] = [];
  let tooMany = 0;
  let next = 0;
  const startedMs = performance.now();
  const sendRest = async (): Promise<void> => {
    while (next < people) {
      const from = next;
      next += itemsEach;
      const request = {
        method: 'POST',
        headers: { 'X-Api-Key': key, 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() },
        body: JSON.stringify({
          mode,
          items: Array.from({ length: itemsEach }, (_, at) => itemOf(from + at)),
        }),
      };
      let response = await fetch(url, request);
      for (; response.status === 429; response = await fetch(url, request)) {
        tooMany++;
        await response.arrayBuffer();
        await sleep(Number(response.headers.get('Retry-After')) * 1000);
      }
      const text = await response.text();
      const results: readonly Result[] = response.ok ? JSON.parse(text).results : [];
      if (results.length !== itemsEach || results.some(({ status }) => status !== expected))
        throw new Error(`a batch was answered ${response.status}: ${text.slice(0, 1000)}`);
      for (const { index, body } of results) versions[from + index] = body.version;
    }
  };
  await Promise.all(Array.from({ length: lanes }, sendRest));
  return { versions, tooMany, tookMs: performance.now() - startedMs };
};

interface Result {
  readonly index: number;
  readonly status: number;
  readonly body: { readonly version: number };
}
