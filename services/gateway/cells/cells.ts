import { type CompanyEntry, problem } from '@causeway/proto';
import type { Cell } from './cell.ts';
import type { CellSetting } from './setting.ts';

/** The cells that this gateway serves. */
export interface Cells {
  /**
   * The cell that serves a company; undefined if none does.
   * @throws Problem `service_unavailable` if its cell has not been reachable since this process started.
   */
  of(companyId: number): Cell | undefined;
  /** Those that have been reachable since this process started, in the order of `CELLS`. */
  open(): readonly Cell[];
  /** Set if there is no other. */
  readonly only: Cell | undefined;
  /** The first of `CELLS`. @throws as `of` */
  first(): Cell;
  /** Their number. */
  readonly count: number;
}

/** Without `CELLS`, every company is in the one cell, and nothing is looked up. */
export const oneCell = (cell: Cell): Cells => ({
  of: () => cell,
  open: () => [cell],
  only: cell,
  first: () => cell,
  count: 1,
});

/** What routing needs to know of a cell. */
type Place = { readonly table: { company(id: number): CompanyEntry | undefined } };

/**
 * Finds the cell of each company (README.md).
 * @param places the cells in the order of `settings`; undefined while one has not been reachable.
 */
export const routeToCells = <Routed extends Place>(
  settings: readonly CellSetting[],
  places: readonly (Routed | undefined)[],
): ((companyId: number) => Routed | undefined) => {
  const named = new Map(settings.flatMap(({ companies }, at) => companies.map((company) => [company, at])));
  const ranges = settings
    .flatMap((one, at) => one.ranges.map((range) => ({ ...range, at })))
    .sort((a, b) => a.first - b.first);
  const rangeOf = (companyId: number): number | undefined => {
    for (const { first, last, at } of ranges) {
      if (companyId < first) return undefined;
      if (companyId <= last) return at;
    }
    return undefined;
  };
  const reached = (at: number): Routed => requireReached(places[at]);

  return (companyId) => {
    const to = named.get(companyId);
    const from = rangeOf(companyId);
    if (to === undefined) return from === undefined ? undefined : reached(from);
    if (from === undefined || from === to) return reached(to);
    if (isOpen(places[to], companyId)) return places[to];
    if (isOpen(places[from], companyId)) return places[from];
    // Closed in the one, and in the other too, or it is not known there yet.
    const target = reached(to);
    return places[from] ?? target;
  };
};

/** @throws Problem `service_unavailable` */
export const requireReached = <Routed>(place: Routed | undefined): Routed => {
  if (!place) throw problem('service_unavailable');
  return place;
};

const isOpen = (place: Place | undefined, companyId: number): boolean => {
  const entry = place?.table.company(companyId);
  return entry !== undefined && entry.closed !== true;
};
