import { encodeEnvelope, maskPayload, type Role, type StoredEvent } from '@causeway/proto';

/** An event as a role sees it. The bytes of an envelope are fixed, so they are parsed only where they are masked. */
export const shownEnvelope = (event: StoredEvent, role: Role): Buffer => {
  const bytes = encodeEnvelope(event);
  if (role !== 'viewer') return bytes;
  const envelope = JSON.parse(bytes.toString()) as { payload: unknown };
  return Buffer.from(JSON.stringify({ ...envelope, payload: maskPayload(envelope.payload) }));
};
