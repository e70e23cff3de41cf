export { type TestCallers, testCallers } from './callers.ts';
export { type Authority, type Certificate, makeAuthority } from './certificates.ts';
export { cleanUp } from './cleanup.ts';
export { type CollectedSpan, type Collector, startCollector } from './collector.ts';
export { type TestDatabase, testDatabase } from './database.ts';
export { type TestLane, testLane } from './lane.ts';
export { type TestNats, testNats } from './nats.ts';
export { provided } from './provided.ts';
