/**
 * Parses a page's search parameters. Drops values of the wrong type, so that an old or mistyped link still opens. They
 * become undefined, because the router merges the result into the raw parameters.
 */
export const searchOf =
  <Shape extends Readonly<Record<string, (value: unknown) => unknown>>>(shape: Shape) =>
  (raw: Readonly<Record<string, unknown>>): Search<Shape> =>
    Object.fromEntries(
      Object.entries(shape)
        .filter(([name]) => name in raw)
        .map(([name, parse]) => [name, parse(raw[name])]),
    ) as Search<Shape>;

type Search<Shape extends Readonly<Record<string, (value: unknown) => unknown>>> = {
  [Name in keyof Shape]?: ReturnType<Shape[Name]> | undefined;
};

export const anyText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export const anyNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

export const oneOf =
  <const Value extends string>(values: readonly Value[]) =>
  (value: unknown): Value | undefined =>
    values.find((one) => one === value);
