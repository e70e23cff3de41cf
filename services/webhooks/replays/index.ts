export { cancelReplay } from './cancelReplay.ts';
export { createReplay } from './createReplay.ts';
export { getReplay } from './getReplay.ts';
export { listReplays } from './listReplays.ts';
export { previewReplay } from './previewReplay.ts';
