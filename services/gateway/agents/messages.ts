/** What the gateway and its thread for agents send to each other. */

export interface AgentRequest {
  readonly kind: 'request';
  readonly id: number;
  readonly scopes: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface AgentResponse {
  readonly kind: 'response';
  readonly id: number;
  readonly status: number;
  readonly contentType: string | null;
  readonly body: string;
}

/** A request of the interface that a tool makes, for the agent's request `id`. */
export interface ToolRequest {
  readonly kind: 'call';
  readonly id: number;
  readonly call: number;
  readonly tool: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: string | null;
  readonly idempotencyKey: string | undefined;
}

export interface ToolAnswer {
  readonly kind: 'answer';
  readonly call: number;
  readonly status: number;
  readonly requestId: string;
  readonly retryAfter: string | undefined;
  /** Null: longer than an agent can read. */
  readonly body: string | null;
}
