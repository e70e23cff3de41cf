/** The portal's operations on deliveries and replays. */
export {};
