import { matches, type PayloadCondition, parseJson } from '@causeway/proto';

type Conditions = readonly PayloadCondition[] | null;

/** Events that one statement reads: payloads, which only conditions need, have up to 256 KiB. */
export const eventsAtOnce = (conditions: Conditions): number => (conditions ? 200 : 2_000);

/** @param payload as it is stored. */
export const meets = (conditions: Conditions, payload: Buffer): boolean =>
  conditions === null || matches(conditions, parseJson(payload.toString()));
