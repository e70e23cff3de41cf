/** A notification without data. Through it, a stage reaches the stages before it without knowing them. */
interface Signal {
  on(listener: () => void): void;
  send(): void;
}

export const createSignal = (): Signal => {
  const listeners: (() => void)[] = [];
  return {
    on: (listener) => void listeners.push(listener),
    send: () => {
      for (const listener of listeners) listener();
    },
  };
};
