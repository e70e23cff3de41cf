export { listEventTypes } from './list-event-types.ts';
