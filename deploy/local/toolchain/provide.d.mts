import type { Program } from '../toolchain.ts';

export declare function providePrograms<Name extends string>(
  cache: string,
  wanted: Readonly<Record<Name, string>>,
): Promise<Readonly<Record<Name, Program>>>;
