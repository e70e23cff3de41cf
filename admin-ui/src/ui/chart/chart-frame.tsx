import { type PointerEvent, type ReactNode, useId, useState } from 'react';
import { clockTime, dayOf } from '../format.ts';
import s from './chart.module.css';
import type { ChartProps } from './chart-props.ts';
import { ChartTable } from './chart-table.tsx';

interface ChartFrameProps extends ChartProps {
  readonly max: number;
  /** The marks, in a box as wide as there are steps and `max` high, drawn upside down. */
  readonly children: ReactNode;
}

/** The frame of all charts: legend, scale, values at the pointer, and the same numbers as a table. */
export function ChartFrame({ label, times, series: all, format, max, children }: ChartFrameProps) {
  // What never happened needs no place in the legend.
  const series = all.filter(({ values }) => values.some(Boolean));
  const [at, setAt] = useState<number | null>(null);
  const legend = useId();
  const move = (event: PointerEvent<HTMLDivElement>): void => {
    const box = event.currentTarget.getBoundingClientRect();
    const index = Math.floor(((event.clientX - box.left) / box.width) * times.length);
    setAt(index >= 0 && index < times.length ? index : null);
  };
  const first = times[0];
  const middle = times[Math.floor(times.length / 2)];
  const last = times.at(-1);
  const long = first !== undefined && last !== undefined && Date.parse(last) - Date.parse(first) > 90_000_000;
  const tick = (time: string): string => (long ? dayOf(time) : clockTime(time));
  const atTime = at === null ? undefined : times[at];
  if (series.length === 0)
    return (
      <div className={s.chart}>
        <p className={s.nothing}>Nothing in this period</p>
        <ChartTable label={label} times={times} series={all} format={format} />
      </div>
    );
  return (
    <figure className={s.chart} aria-labelledby={legend}>
      <figcaption id={legend} className={s.legend}>
        <span className="visually-hidden">{label}: </span>
        {series.map((one) => (
          <span key={one.label} className={s.key}>
            <span className={s.swatch} data-mark style={{ background: one.color }} />
            {one.label}
            {at !== null && <strong>{reading(one.values[at], format)}</strong>}
          </span>
        ))}
        <span className={s.when}>
          {atTime !== undefined && `${long ? `${dayOf(atTime)}, ` : ''}${clockTime(atTime)}`}
        </span>
      </figcaption>
      <div className={s.body}>
        <div className={s.scale} aria-hidden="true">
          <span>{format(max)}</span>
          <span>{format(max / 2)}</span>
          <span>{format(0)}</span>
        </div>
        <div className={s.plot} onPointerMove={move} onPointerLeave={() => setAt(null)}>
          <svg
            viewBox={`0 0 ${times.length} ${max}`}
            preserveAspectRatio="none"
            aria-hidden="true"
            className={s.marks}
          >
            {at !== null && <rect x={at} y={0} width={1} height={max} fill="var(--hover)" />}
            {children}
          </svg>
        </div>
        <div className={s.times} aria-hidden="true">
          {first !== undefined && <span>{tick(first)}</span>}
          {middle !== undefined && <span>{tick(middle)}</span>}
          {last !== undefined && <span>{tick(last)}</span>}
        </div>
      </div>
      <ChartTable label={label} times={times} series={all} format={format} />
    </figure>
  );
}

const reading = (value: number | null | undefined, format: (value: number) => string): string =>
  value === null || value === undefined ? '–' : format(value);

const isEven = (value: number): boolean => value % 2 === 0;

/** The next round number whose half is whole, so that the scale reads well. */
export const niceMax = (value: number): number => {
  if (value <= 4) return 4;
  const magnitude = 10 ** Math.floor(Math.log10(value));
  const step =
    [1, 2, 3, 4, 5, 6, 8, 10].find((one) => one * magnitude >= value && isEven(one * magnitude)) ?? 10;
  return step * magnitude;
};
