import { version as platformVersion } from 'zapier-platform-core';
import { creates, searches, searchOrCreates } from './actions.ts';
import { authentication } from './authentication.ts';
import { triggers } from './triggers.ts';

/** The app as Zapier's platform reads it. */
export default {
  version: '0.1.0',
  platformVersion,
  authentication,
  triggers,
  creates,
  searches,
  searchOrCreates,
  // Every request goes through `z.request`, which writes its own log.
  flags: { skipHttpPatch: true },
};
