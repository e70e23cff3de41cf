import { type Inbox, startInbox } from '../../../deploy/local/inbox/inbox.ts';
import { cleanUp } from './cleanup.ts';

export const testInbox = async (...options: Parameters<typeof startInbox>): Promise<Inbox> => {
  const inbox = await startInbox(...options);
  cleanUp(() => inbox.close());
  return inbox;
};
