import type { TrafficSources } from '../gateway/batching.ts';
import { median, micros, whole } from '../report/figures.ts';
import type { Table } from '../report/table.ts';
import type { Measured } from './bench.ts';

/** Totals that crm has written so far. */
export interface Grouping {
  readonly groups: number;
  readonly calls: number;
}

export const readGrouping = async ({ crmMetrics }: TrafficSources): Promise<Grouping> => {
  const texts = await Promise.all(crmMetrics.map(async (url) => (await fetch(`${url}/metrics`)).text()));
  const total = (name: string): number =>
    texts
      .flatMap((text) => [...text.matchAll(new RegExp(`^${name}\\{batch="record-actions"\\} (\\d+)`, 'gm'))])
      .reduce((sum, [, value]) => sum + Number(value), 0);
  return { groups: total('batch_flushes_total'), calls: total('batch_items_total') };
};

/** The gain of one transaction for many calls over one for each call; medians. */
export const groupingTable = (kinds: readonly (readonly [name: string, Measured])[]): Table => ({
  title: 'Grouped transactions of the cluster',
  columns: ['', 'calls per transaction', 'requests/s', 'CPU µs/request of crm', 'of mysql'],
  rows: kinds.map(([name, { rounds, grouping }]) => {
    const cpuOf = (start: string) =>
      micros(
        median(
          rounds.cluster.map(({ cpu, load }) => {
            const seconds = [...cpu].reduce(
              (sum, [of, { total }]) => (of.startsWith(start) ? sum + total : sum),
              0,
            );
            return (seconds * 1e6) / load.requests;
          }),
        ),
      );
    return [
      name,
      median(grouping.map(({ calls, groups }) => calls / groups)).toFixed(1),
      whole(median(rounds.cluster.map(({ load }) => load.requestsPerSecond))),
      cpuOf('crm'),
      cpuOf('mysql'),
    ];
  }),
});
