import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A MySQL whose user may create and drop databases. */
    mysqlUrl: string;
    natsServer: string;
    /** A folder for the servers' stores, in memory if there is plenty. */
    scratch: string;
  }
}

export const provided = (name: 'mysqlUrl' | 'natsServer' | 'scratch'): string => {
  const value = inject(name);
  if (!value)
    throw new Error(`${name} is missing: run the tests by npm test, whose global setup provides it`);
  return value;
};
