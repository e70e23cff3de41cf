export { createKey } from './createKey.ts';
export { listKeys } from './listKeys.ts';
export { revokeKey } from './revokeKey.ts';
