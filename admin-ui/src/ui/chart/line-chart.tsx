import { ChartFrame, niceMax } from './chart-frame.tsx';
import type { ChartProps } from './chart-props.ts';

/** Lines with gaps where nothing was measured. */
export function LineChart(props: ChartProps) {
  const max = niceMax(Math.max(0, ...props.series.flatMap((one) => one.values.map((value) => value ?? 0))));
  return (
    <ChartFrame {...props} max={max}>
      {props.series.map((one) => (
        <g
          key={one.label}
          fill="none"
          stroke={one.color}
          strokeWidth={1.75}
          strokeLinejoin="round"
          strokeLinecap="round"
        >
          <path d={lines(one.values, max)} vectorEffect="non-scaling-stroke" />
          <path d={points(one.values, max)} strokeWidth={5} vectorEffect="non-scaling-stroke" />
        </g>
      ))}
    </ChartFrame>
  );
}

type Values = readonly (number | null)[];

const lines = (values: Values, max: number): string =>
  values
    .map((value, index) =>
      value === null ? '' : `${values[index - 1] == null ? 'M' : 'L'}${index + 0.5} ${max - value}`,
    )
    .join('');

/** A dot for each value without neighbours, of which a line shows nothing. */
const points = (values: Values, max: number): string =>
  values
    .map((value, index) =>
      value !== null && values[index - 1] == null && values[index + 1] == null
        ? `M${index + 0.5} ${max - value}h0`
        : '',
    )
    .join('');
