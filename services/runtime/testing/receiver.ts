import {
  type Receiver,
  type ReceiverOptions,
  startReceiver,
} from '../../../deploy/local/receiver/receiver.ts';
import { cleanUp } from './cleanup.ts';

export const testReceiver = async (options: ReceiverOptions = {}): Promise<Receiver> => {
  const receiver = await startReceiver(options);
  cleanUp(() => receiver.close());
  return receiver;
};
