export { listEventTypes } from './listEventTypes.ts';
