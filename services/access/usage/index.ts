export { getFirstSteps } from './get-first-steps.ts';
export { getUsage } from './get-usage.ts';
