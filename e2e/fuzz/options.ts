/** Options that repeat or lengthen a run: `npm run fuzz -- --seed 7 --requests 100000`. */
export const seed = Number(process.env.FUZZ_SEED ?? 1);
export const requestsOr = (usual: number): number => Number(process.env.FUZZ_REQUESTS ?? usual);

/** Far more than it takes: a machine may have others to serve. */
export const timeoutFor = (requests: number): number => 60_000 + 10 * requests;

/** The count of each status per operation. */
export const told = (statuses: ReadonlyMap<string, ReadonlyMap<number, number>>): string =>
  [...statuses]
    .map(([id, own]) => {
      const counts = [...own].toSorted(([one], [other]) => one - other);
      return `${id} ${counts.map(([status, count]) => `${status}: ${count}`).join(', ')}`;
    })
    .toSorted()
    .join('\n');
