export { createTestEvent } from './createTestEvent.ts';
export { getEvent } from './getEvent.ts';
export { listEvents } from './listEvents.ts';
