export { createTestEvent } from './create-test-event.ts';
export { getEvent } from './get-event.ts';
export { listEvents } from './list-events.ts';
