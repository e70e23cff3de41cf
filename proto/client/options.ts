/** A row of the generated table of operations. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** What follows the ids among the arguments. */
  readonly takes?: 'query' | 'body' | 'query and body';
  /** The field of the answer that has a page's items. */
  readonly list?: string;
}

export interface CallOptions {
  /** Ends the call and its retries; it is rejected with the signal's `reason`. */
  readonly signal?: AbortSignal | undefined;
  /** Of one attempt; the default is the client's. */
  readonly timeoutMs?: number | undefined;
  /** The default is the client's. */
  readonly maxRetries?: number | undefined;
  /** Found again in the answer, and in the server's logs. */
  readonly requestId?: string | undefined;
}

export interface ReadOptions extends CallOptions {
  /** The `version` that is known: if the record still has it, the result is null. */
  readonly ifNoneMatch?: number | string | undefined;
}

export interface UpdateOptions extends CallOptions {
  /** The `version` that was read: if the record has another one, nothing is done (`PreconditionFailed`). */
  readonly ifMatch?: number | string | undefined;
}

export interface WriteOptions extends CallOptions {
  /** Without it, each call makes its own for its retries. Pass one to repeat a call after a crash. */
  readonly idempotencyKey?: string | undefined;
}

export interface BatchOptions extends WriteOptions {
  /** `*`: an item whose `external_id` exists is refused with 412, and nothing of it is done. */
  readonly ifNoneMatch?: '*' | undefined;
}

export interface CreateOptions extends WriteOptions {
  /** `*`: if the `external_id` exists, nothing is done (`PreconditionFailed`). */
  readonly ifNoneMatch?: '*' | undefined;
  /** `*`: if the `external_id` does not exist, nothing is done. Or the `version` that its record must have. */
  readonly ifMatch?: number | string | undefined;
}

export interface ClientOptions {
  /** Of the installation: `https://crm.example.com`, or with `/api/v1`. */
  readonly baseUrl: string | URL;
  readonly apiKey: string;
  /** Of one attempt. The default is 30 seconds; the time of `wait` is added. */
  readonly timeoutMs?: number;
  /** After the first attempt. The default is 4. */
  readonly maxRetries?: number;
  /** The default is the global `fetch`. */
  readonly fetch?: typeof fetch;
}
