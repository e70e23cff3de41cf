import { type EventType, samplePayload } from '../events.ts';
import { deliveryHeaders, openedSecret, signatureHeader, standardSignatureHeader } from '../signatures.ts';
import { encodeEnvelope, encodePayload } from './ingest.ts';
import { sampleId } from './shared.ts';

/** Published, so that everybody can check a sample's signatures. It signs nothing else. */
export const sampleSecret = `whsec_${Buffer.from('Causeway sample secret: not real').toString('base64')}`;

const secrets = [openedSecret(sampleSecret)];

/** A delivery of a sample event as a receiver would get it: the body's bytes as text, and all headers. */
export const sampleDelivery = (type: EventType, companyId: number, now: Date) => {
  const event_id = sampleId(90_071);
  const payload = encodePayload(samplePayload(type, now));
  const bytes = encodeEnvelope({ event_id, type, created_utc: now, company_id: companyId, payload });
  const body = bytes.toString();
  const timestamp = Math.floor(now.getTime() / 1000);
  const delivered = {
    event_id,
    event_type: type,
    attempt: 1,
    subscription_id: 0,
    sequence: 0,
    origin: 'system',
    replay_id: 0,
  };
  const headers = deliveryHeaders(delivered, timestamp, [
    signatureHeader(secrets, timestamp, bytes),
    standardSignatureHeader(secrets, event_id, timestamp, bytes),
  ]);
  return { event: JSON.parse(body), body, headers: Object.fromEntries(headers) as Record<string, string> };
};
