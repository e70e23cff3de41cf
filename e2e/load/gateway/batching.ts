import { median } from '../report/figures.ts';
import type { Table } from '../report/table.ts';

/** What the cluster has counted of its own messages so far. */
export interface Traffic {
  readonly calls: number;
  readonly frames: number;
  /** Into the NATS server and out of it. */
  readonly messages: number;
}

/** Reads it from where gateways and the NATS server publish their metrics. */
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

/** How well requests travelled together, between pairs of readings; medians. */
export const batchingTable = (turns: readonly (readonly [before: Traffic, after: Traffic])[]): Table => {
  const per = (above: keyof Traffic, below: keyof Traffic): string =>
    median(
      turns.map(([before, after]) => (after[above] - before[above]) / (after[below] - before[below])),
    ).toFixed(2);
  return {
    title: 'How requests travelled together',
    columns: ['', 'cluster'],
    rows: [
      ['requests per lane frame', per('calls', 'frames')],
      ['messages into and out of NATS, per request', per('messages', 'calls')],
    ],
  };
};
