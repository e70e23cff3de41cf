import { median } from '../report/figures.ts';
import type { Table } from '../report/table.ts';

/** Messages that the cluster has counted so far. */
export interface Traffic {
  readonly calls: number;
  readonly frames: number;
  /** Messages into and out of the NATS server. */
  readonly messages: number;
}

/** Reads the counts from the metrics of the gateways and of the NATS server. */
export const readTraffic = async ({ gatewayMetrics, natsMonitor }: TrafficSources): Promise<Traffic> => {
  const texts = await Promise.all(gatewayMetrics.map(async (url) => (await fetch(`${url}/metrics`)).text()));
  const varz = (await (await fetch(`${natsMonitor}/varz`)).json()) as { in_msgs: number; out_msgs: number };
  const total = (name: string): number =>
    texts
      .flatMap((text) => [...text.matchAll(new RegExp(`^${name}\\{lane="crm"\\} (\\d+)`, 'gm'))])
      .reduce((sum, [, value]) => sum + Number(value), 0);
  return {
    calls: total('lane_client_calls_total'),
    frames: total('lane_client_frames_total'),
    messages: varz.in_msgs + varz.out_msgs,
  };
};

export interface TrafficSources {
  readonly gatewayMetrics: readonly string[];
  readonly crmMetrics: readonly string[];
  readonly natsMonitor: string;
}

/** How well requests were batched, between pairs of readings; medians. */
export const batchingTable = (turns: readonly (readonly [before: Traffic, after: Traffic])[]): Table => {
  const per = (above: keyof Traffic, below: keyof Traffic): string =>
    median(
      turns.map(([before, after]) => (after[above] - before[above]) / (after[below] - before[below])),
    ).toFixed(2);
  return {
    title: 'Batching of requests',
    columns: ['', 'cluster'],
    rows: [
      ['requests per lane frame', per('calls', 'frames')],
      ['messages into and out of NATS, per request', per('messages', 'calls')],
    ],
  };
};
