/** What the connectors are made of. `table.generated.ts` holds it, written from the contract. */
export interface ConnectorTable {
  readonly actions: readonly Action[];
  readonly lookups: readonly Lookup[];
  readonly events: readonly EventKind[];
}

/** An operation as an automation tool shows it: one form, which sends one request. */
export interface Action {
  /** The method of the TypeScript client: `leads`, `create`. */
  readonly resource: string;
  readonly operation: string;
  readonly title: string;
  readonly description: string;
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Below `/api/v1`, with the fields `in: 'path'` in braces. */
  readonly path: string;
  readonly fields: readonly Field[];
  /** The array of records in the answer of a find; absent if the answer is the record. */
  readonly list?: string;
  /** One record of the answer. */
  readonly sample: Readonly<Record<string, unknown>>;
}

export interface Field {
  /** As the interface spells it. */
  readonly name: string;
  readonly label: string;
  readonly in: 'path' | 'query' | 'body';
  readonly type: 'text' | 'longText' | 'email' | 'integer' | 'number' | 'boolean';
  readonly required: boolean;
  readonly description?: string;
  /** The name of the lookup whose items are its values. */
  readonly lookup?: string;
}

/** A list that fills a drop-down. */
export interface Lookup {
  readonly name: string;
  /** In the singular, for a person. */
  readonly label: string;
  readonly path: string;
  /** The array of items in the answer, and the fields of an item that are sent and shown. */
  readonly list: string;
  readonly value: string;
  readonly shown: string;
  /** Only lead statuses, or none. */
  readonly isLead?: boolean;
  /** It finds nothing without a text in `q`. */
  readonly isSearch?: boolean;
}

export interface EventKind {
  readonly type: string;
  readonly title: string;
  readonly description: string;
  /** A delivery of the type. */
  readonly sample: Readonly<Record<string, unknown>>;
}
