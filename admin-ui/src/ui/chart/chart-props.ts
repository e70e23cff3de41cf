export interface Series {
  readonly label: string;
  readonly color: string;
  /** One value for each time; null if nothing was measured. */
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  /** The chart's subject: `Requests`. */
  readonly label: string;
  /** Starts of the steps, ISO 8601. */
  readonly times: readonly string[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
}
