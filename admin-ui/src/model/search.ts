import { notFound } from '@tanstack/react-router';

/** Drops values of the wrong type: undefined, because the router merges the result into the raw values. */
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

/** A text of digits only is a number in a URL. */
export const anyWord = (value: unknown): string | undefined =>
  typeof value === 'number' ? String(value) : anyText(value);

export const anyNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

export const oneOf =
  <const Value extends string>(values: readonly Value[]) =>
  (value: unknown): Value | undefined =>
    values.find((one) => one === value);

/** Anything but a whole number leads to the not-found page. */
export const pathIds = <Name extends string>(...names: readonly Name[]) => ({
  parse: (raw: Record<Name, string>): Record<Name, number> =>
    Object.fromEntries(names.map((name) => [name, toId(raw[name])])) as Record<Name, number>,
  stringify: (ids: Record<Name, number>): Record<Name, string> =>
    Object.fromEntries(names.map((name) => [name, String(ids[name])])) as Record<Name, string>,
});

const toId = (text: string): number => {
  const id = Number(text);
  if (!/^\d{1,15}$/.test(text) || !Number.isSafeInteger(id)) throw notFound();
  return id;
};

const record = { client: anyNumber, invoice: anyNumber, email: anyText, external: anyWord };

// Of the pages whose first query depends on it: a loader and a page have to know the same type.
export const deliveriesSearch = searchOf({
  subscription: anyNumber,
  ...record,
  event: anyNumber,
  replay: anyNumber,
  type: anyText,
  state: anyText,
  status: anyNumber,
  cause: anyText,
  period: oneOf(['15m', '1h', '24h', '7d']),
  since: anyText,
  until: anyText,
  cursor: anyText,
  view: oneOf(['causes']),
});

export const eventsSearch = searchOf({ type: anyText, ...record, cursor: anyText });
