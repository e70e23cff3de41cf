/**
 * The light door, for a program that only asks: no database, no metrics, nothing to serve. The front door
 * takes 300 ms to load, which a command line would spend each time.
 */
export { type Bus, connectBus } from './bus.ts';
export { ConfigError, readEnv } from './config.ts';
export { LaneError } from './lanes/call.ts';
export { createLaneClient } from './lanes/client.ts';
export { type NatsFiles, natsAddress, TlsProblem } from './nats-address.ts';
export { childTraceparent, randomHex } from './trace.ts';
