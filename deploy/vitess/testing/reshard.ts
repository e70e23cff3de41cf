import { setTimeout as sleep } from 'node:timers/promises';
import type { VitessCluster } from './cluster.ts';
import { copyTables } from './keyspaces.ts';
import type { Tablet } from './tablet.ts';

export interface ReshardTimes {
  readonly copyMs: number;
  readonly switchMs: number;
}

const copiedWithinMs = 600_000;

/** The keyspace serves meanwhile. @param targets shards without tables, which cover the same key ranges */
export const reshard = async (
  { control }: Pick<VitessCluster, 'control'>,
  sources: readonly Tablet[],
  targets: readonly Tablet[],
): Promise<ReshardTimes> => {
  const run = (...args: string[]) =>
    control('Reshard', '--workflow', 'grow', '--target-keyspace', 'causeway', ...args);
  const names = (tablets: readonly Tablet[]) => tablets.map(({ shard }) => shard).join(',');
  const [first] = sources;
  if (!first) throw new Error('no shard to move rows from');

  const startedMs = performance.now();
  for (const target of targets) await copyTables(first, target);
  for (const { alias } of targets) await control('ReloadSchema', alias);
  await run(
    ...['create', '--source-shards', names(sources), '--target-shards', names(targets)],
    // Vitess would create tables before those that they reference, and keys that foreign keys need after the copy.
    ...['--skip-schema-copy', '--defer-secondary-keys=false'],
  );
  let copiedMs = 0;
  // A stream that has not begun says that it runs.
  for (let isSwitched = false; !isSwitched; ) {
    await copied(run);
    copiedMs = performance.now();
    isSwitched = await run('switchtraffic').then(
      () => true,
      (error: Error) => {
        if (!/copy is still in progress/.test(error.message)) throw error;
        return false;
      },
    );
  }
  const switchedMs = performance.now();
  await run('complete');
  return { copyMs: copiedMs - startedMs, switchMs: switchedMs - copiedMs };
};

interface Status {
  readonly table_copy_state?: Readonly<Record<string, unknown>>;
  readonly shard_streams?: Readonly<
    Record<string, { readonly streams: readonly { readonly status: string; readonly info?: string }[] }>
  >;
}

const copied = async (run: (...args: string[]) => Promise<string>): Promise<void> => {
  for (const endMs = Date.now() + copiedWithinMs; ; await sleep(1_000)) {
    const status = JSON.parse(await run('--format', 'json', 'status')) as Status;
    const streams = Object.values(status.shard_streams ?? {}).flatMap((shard) => shard.streams);
    const waits = Object.keys(status.table_copy_state ?? {}).length > 0;
    if (!waits && streams.length > 0 && streams.every((stream) => stream.status === 'Running')) return;
    const failed = streams.find((stream) => stream.status === 'Error');
    if (failed || Date.now() > endMs)
      throw new Error(`the new shards did not copy their rows: ${failed?.info ?? JSON.stringify(streams)}`);
  }
};
