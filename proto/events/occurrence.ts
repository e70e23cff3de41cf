interface Delivered {
  readonly event_id: number;
  readonly event_type: string;
  readonly created_utc: Date;
  /** The envelope. */
  readonly body: Uint8Array;
}

/**
 * The body of a delivery to an agent: an occurrence of MCP Events, whose `data` is the envelope as other deliveries have it,
 * byte for byte. The envelope alone would be taken for a control message, because it has a `type`.
 */
export const encodeOccurrence = ({ event_id, event_type, created_utc, body }: Delivered): Buffer => {
  const head = `{"eventId":"${event_id}","name":"${event_type}","timestamp":"${created_utc.toISOString()}","data":`;
  return Buffer.concat([Buffer.from(head), body, Buffer.from(',"cursor":null}')]);
};
