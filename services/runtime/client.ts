/** For programs that only send calls: the main entry point takes 300 ms to load, too long for a command. */
export { type Bus, connectBus } from './bus.ts';
export { ConfigError, readEnv } from './config.ts';
export { createLaneClient } from './lanes/client.ts';
export { LaneError } from './lanes/frame.ts';
export { type NatsFiles, natsAddress, TlsProblem } from './nats-address.ts';
export { childTraceparent, randomHex } from './trace.ts';
