import { ChartFrame, niceMax } from './chart-frame.tsx';
import type { ChartProps } from './chart-props.ts';

/** Stacked bars, the first series at the bottom. */
export function BarChart(props: ChartProps) {
  const { times, series } = props;
  const totals = times.map((_, index) => series.reduce((sum, one) => sum + (one.values[index] ?? 0), 0));
  const max = niceMax(Math.max(0, ...totals));
  return (
    <ChartFrame {...props} max={max}>
      {times.map((time, index) => {
        let top = max;
        return (
          <g key={time}>
            {series.map((one) => {
              const value = one.values[index] ?? 0;
              if (value === 0) return null;
              top -= value;
              return (
                <rect key={one.label} x={index + 0.14} y={top} width={0.72} height={value} fill={one.color} />
              );
            })}
          </g>
        );
      })}
    </ChartFrame>
  );
}
