/** `type` of a verification challenge (contract, "Endpoint verification"). No event has it and nobody can subscribe to it. */
export const challengeType = 'endpoint.verification';

/** The `disabledReason` of a subscription that is enabled as soon as its receiver echoes a challenge. */
export const unverifiedReason = 'waiting for the receiver to echo the verification challenge';

/** Enabling may send a challenge, and a receiver has as long to echo it as to answer a test delivery. */
export const enablingDeadlineMs = 15_000;
