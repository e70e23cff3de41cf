import { run } from './run.ts';

const [, , ...args] = process.argv;
process.exitCode = await run(args);
