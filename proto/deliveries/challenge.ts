/**
 * `type` of a verification challenge (contract, "Endpoint verification"). It is not an event type: nobody can
 * subscribe to it.
 */
export const challengeType = 'endpoint.verification';

/** The `disabledReason` of a subscription that is enabled as soon as its receiver echoes a challenge. */
export const unverifiedReason = 'waiting for the receiver to echo the verification challenge';

/**
 * Deadline of enabling, which may send a challenge. The receiver has as long to echo it as to answer a test delivery.
 */
export const enablingDeadlineMs = 15_000;
