import type { Program } from '../toolchain.ts';

export declare function providePrograms<Name extends string>(
  cache: string,
  wanted: Readonly<Record<Name, string | readonly string[]>>,
): Promise<Readonly<Record<Name, Program>>>;
