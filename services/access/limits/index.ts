export { setLimits } from './setLimits.ts';
