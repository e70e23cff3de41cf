import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A MySQL whose user may create and drop databases. */
    mysqlUrl: string;
    natsServer: string;
  }
}

export const provided = (name: 'mysqlUrl' | 'natsServer'): string => {
  const value = inject(name);
  if (!value)
    throw new Error(`${name} is missing: run the tests by npm test, whose global setup provides it`);
  return value;
};
