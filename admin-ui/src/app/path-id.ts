import { notFound } from '@tanstack/react-router';

/** Parses and writes ids in a path. Anything but a whole number leads to the not-found page. */
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
