import {
  type Receiver,
  type ReceiverOptions,
  startReceiver,
} from '../../../deploy/local/receiver/receiver.ts';
import { cleanUp } from './cleanup.ts';

/** Starts a webhook receiver that closes at the end of the test or file. */
export const testReceiver = async (options: ReceiverOptions = {}): Promise<Receiver> => {
  const receiver = await startReceiver(options);
  cleanUp(() => receiver.close());
  return receiver;
};
