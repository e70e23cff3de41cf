export { cancelReplay } from './cancel-replay.ts';
export { createReplay } from './create-replay.ts';
export { getReplay } from './get-replay.ts';
export { listReplays } from './list-replays.ts';
export { previewReplay } from './preview-replay.ts';
