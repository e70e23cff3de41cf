import { problem } from '@causeway/proto';
import { expect, test } from 'vitest';
import { CommitOutcomeUnknown, DatabaseUnavailable } from './database/errors.ts';
import type { Call } from './lanes/server.ts';
import { createLog } from './log.ts';
import { failureAnswer } from './operations.ts';

const { log } = createLog({ name: 'test', instance: 'test', level: 'silent' });
const call = { operation: 'createLead', tenant: 1, requestId: 'r', params: [] } as unknown as Call;
const serverError = (errno: number, sqlState = 'HY000'): Error =>
  Object.assign(new Error('no'), { errno, sqlState, sqlMessage: 'no' });

test.each([
  [503, 'a read-only server', serverError(1290)],
  [503, 'a full disk', serverError(1114)],
  [503, 'a COMMIT that a plugin stopped, in a transaction', serverError(3100)],
  [503, 'a lock that was not granted', serverError(1205)],
  [503, 'a deadlock', serverError(1213, '40001')],
  [503, 'a lost connection', Object.assign(new Error('gone'), { code: 'PROTOCOL_CONNECTION_LOST' })],
  [503, 'too few connections', new DatabaseUnavailable('busy', 'no')],
  [504, 'an unknown outcome', new CommitOutcomeUnknown('no')],
  [504, 'a read that took too long', serverError(3024)],
  [500, 'a wrong statement', serverError(1064, '42000')],
  [500, 'a mistake of ours', new TypeError('no')],
  [409, 'a refusal', problem('conflict')],
])('%i for %s', (status, _, error) => {
  expect(failureAnswer(log, call, error).status).toBe(status);
});
