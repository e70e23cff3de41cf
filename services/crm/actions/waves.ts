/**
 * Divides calls into waves. Calls of one wave share no name; calls that share a name are in different waves, in order
 * of arrival.
 */
export const wavesOf = <Call>(
  calls: readonly Call[],
  namesOf: (call: Call) => readonly string[],
): readonly (readonly Call[])[] => {
  const waves: Call[][] = [];
  const lastWave = new Map<string, number>();
  for (const call of calls) {
    const names = namesOf(call);
    const at = Math.max(-1, ...names.map((name) => lastWave.get(name) ?? -1)) + 1;
    for (const name of names) lastWave.set(name, at);
    const wave = waves[at];
    if (wave) wave.push(call);
    else waves[at] = [call];
  }
  return waves;
};
