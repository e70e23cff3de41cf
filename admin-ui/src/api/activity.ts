/**
 * Whether there was user input since the last request. Pages refresh themselves, and those requests must not keep an
 * unattended session alive, so they are marked as passive.
 */
let active = true;

const note = (): void => {
  active = true;
};

export const watchActivity = (): void => {
  for (const type of ['pointerdown', 'keydown', 'wheel', 'touchstart'])
    addEventListener(type, note, { capture: true, passive: true });
};

/** Reads and resets the flag. */
export const takeActivity = (): boolean => {
  const was = active;
  active = false;
  return was;
};
