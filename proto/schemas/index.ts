export * from './fields.ts';
export * from './values.ts';
export * from './webhooks.ts';
