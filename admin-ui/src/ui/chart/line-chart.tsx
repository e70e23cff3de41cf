import { ChartFrame, niceMax } from './chart-frame.tsx';
import type { ChartProps } from './chart-props.ts';

/** Lines with gaps where nothing was measured. */
export function LineChart(props: ChartProps) {
  const max = niceMax(Math.max(0, ...props.series.flatMap((one) => one.values.map((value) => value ?? 0))));
  return (
    <ChartFrame {...props} max={max}>
      {props.series.map((one) => (
        <path
          key={one.label}
          d={path(one.values, max)}
          fill="none"
          stroke={one.color}
          strokeWidth={1.75}
          strokeLinejoin="round"
          strokeLinecap="round"
          vectorEffect="non-scaling-stroke"
        />
      ))}
    </ChartFrame>
  );
}

/** Draws an isolated point as a short dash, which is otherwise invisible. */
const path = (values: readonly (number | null)[], max: number): string => {
  let drawing = false;
  return values
    .map((value, index) => {
      if (value === null) {
        drawing = false;
        return '';
      }
      const y = max - value;
      if (drawing) return `L${index + 0.5} ${y}`;
      drawing = true;
      const alone = values[index + 1] == null;
      return alone ? `M${index + 0.2} ${y}H${index + 0.8}` : `M${index + 0.5} ${y}`;
    })
    .join('');
};
