export { setLimits } from './set-limits.ts';
