/** The front door of the contract. The OpenAPI generator has a door of its own, `@causeway/proto/openapi`. */
export * from './errors.ts';
export * from './events/envelope.ts';
export * from './events/ingest.ts';
export * from './events/payloads.ts';
export * from './events/samples.ts';
export * from './events.ts';
export * from './key-table.ts';
export * from './keys.ts';
export * from './operation.ts';
export * from './operations.ts';
export * from './operator.ts';
export * from './parse.ts';
export * from './render-problem.ts';
export * from './subjects.ts';
