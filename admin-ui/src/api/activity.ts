/**
 * Whether a person has done something since the last request. Pages renew themselves, and that must not keep a
 * session open that nobody sits at: such requests say that they are nobody's doing.
 */
let active = true;

const note = (): void => {
  active = true;
};

export const watchActivity = (): void => {
  for (const type of ['pointerdown', 'keydown', 'wheel', 'touchstart'])
    addEventListener(type, note, { capture: true, passive: true });
};

/** Tells it, once: the request that is told takes it to the server. */
export const takeActivity = (): boolean => {
  const was = active;
  active = false;
  return was;
};
