import { type Bus, type Log, type Metrics, serveOperations } from '@causeway/runtime';

export interface Webhooks {
  /** Takes nothing more, and resolves when everything taken is answered. */
  drain(): Promise<void>;
}

export interface WebhooksOptions {
  readonly bus: Bus;
  readonly instance: string;
  readonly log: Log;
  readonly metrics?: Metrics;
}

/** Serves the lane `webhooks` as one of its replicas. Its operations have no handlers: each is answered 501. */
export const createWebhooks = (options: WebhooksOptions): Promise<Webhooks> =>
  serveOperations({ ...options, lane: 'webhooks', handlers: {} });
