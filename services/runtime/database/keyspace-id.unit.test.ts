import { expect, test } from 'vitest';
import { keyspaceIdOf } from './shards.ts';

// Computed by Vitess's own hash (github.com/cespare/xxhash); the first is in Vitess's tests too.
test.each([
  [1, 'd46405367612b4b7'],
  [0, 'ecaf441208573463'],
  [2, '8b59801662b52160'],
  [17, '60122393a10da93e'],
  [999, 'b65c2bdd6efad2b4'],
  [1001, '2887cb4140259609'],
  [1_234_567, '59932808916ea4d3'],
  [12_345_678, '4afd7ccf082fd0d2'],
  [123_456_789, '83aee640db41b88c'],
  [4_294_967_295, '9b517ca80c447ab8'],
  [999_999_999_999, 'e3d1a34050b7fc12'],
  [1_234_567_890_123_456, '70f2596cdc331cb6'],
  [9_007_199_254_740_991, '5fb242f904f1ad0c'],
])('company %d has the keyspace ID %s', (companyId, id) => {
  expect(keyspaceIdOf(companyId)).toBe(id);
});
