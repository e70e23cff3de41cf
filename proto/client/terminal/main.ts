#!/usr/bin/env node
import { runTerminal, untilStopped } from './run.ts';

process.exitCode = await runTerminal(process.argv.slice(2), {
  env: process.env,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  isTerminal: process.stdout.isTTY,
  signal: untilStopped(),
});
