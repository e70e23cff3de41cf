export { getFirstSteps } from './getFirstSteps.ts';
export { getUsage } from './getUsage.ts';
