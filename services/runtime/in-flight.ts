interface InFlight {
  begin(): void;
  end(count?: number): void;
  count(): number;
  idle(): Promise<void>;
}

export const createInFlight = (): InFlight => {
  let underWay = 0;
  let waiting: (() => void)[] = [];
  return {
    begin: () => void underWay++,
    end: (count = 1) => {
      underWay -= count;
      if (underWay > 0) return;
      for (const resolve of waiting) resolve();
      waiting = [];
    },
    count: () => underWay,
    idle: () => (underWay === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
};

/** Makes a function whose calls share the run under way. */
export const shareRun = <Result>(work: () => Promise<Result>): (() => Promise<Result>) => {
  let running: Promise<Result> | undefined;
  return () => (running ??= work().finally(() => (running = undefined)));
};
