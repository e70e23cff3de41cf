import { Link, type LinkProps } from '@tanstack/react-router';
import { type PointerEvent, useId, useState } from 'react';
import s from './chart.module.css';
import { formatClock, formatDateTime, formatDay } from './format.ts';
import { Empty } from './states.tsx';
import { type Column, Table } from './table.tsx';

type Values = readonly (number | null)[];

const lines = (values: Values, max: number): string =>
  values
    .map((value, index) =>
      value === null ? '' : `${values[index - 1] == null ? 'M' : 'L'}${index + 0.5} ${max - value}`,
    )
    .join('');

export function BarChart({ label, times, series: all, format, linkOf }: ChartProps) {
  // What never happened needs no place in the legend.
  const series = all.filter(({ values }) => values.some(Boolean));
  const [at, setAt] = useState<number | null>(null);
  const legend = useId();
  const totals = times.map((_, index) => all.reduce((sum, one) => sum + (one.values[index] ?? 0), 0));
  const max = niceMax(Math.max(0, ...totals));
  const move = (event: PointerEvent<HTMLDivElement>): void => {
    const box = event.currentTarget.getBoundingClientRect();
    const index = Math.floor(((event.clientX - box.left) / box.width) * times.length);
    setAt(index >= 0 && index < times.length ? index : null);
  };
  const first = times[0];
  const middle = times[Math.floor(times.length / 2)];
  const last = times.at(-1);
  const long = first !== undefined && last !== undefined && Date.parse(last) - Date.parse(first) > 90_000_000;
  const tick = (time: string): string => (long ? formatDay(time) : formatClock(time));
  const atTime = at === null ? undefined : times[at];
  if (series.length === 0)
    return (
      <div className={s.chart}>
        <div className={s.nothing}>
          <Empty title="Nothing in this period" />
        </div>
        <ChartTable {...{ label, times, series: all, format, linkOf }} />
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
          {atTime !== undefined && `${long ? `${formatDay(atTime)}, ` : ''}${formatClock(atTime)}`}
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
            {times.map((time, index) => {
              let top = max;
              return series.map((one) => {
                const value = one.values[index] ?? 0;
                top -= value;
                return (
                  <rect
                    key={time + one.label}
                    x={index + 0.14}
                    y={top}
                    width={0.72}
                    height={value}
                    fill={one.color}
                  />
                );
              });
            })}
          </svg>
          {at !== null && atTime !== undefined && (
            // By keyboard, the rows of the table are the links.
            <Link
              {...linkOf(atTime, endOf(times, at))}
              tabIndex={-1}
              aria-label={`${label}, ${tick(atTime)}`}
              className={s.link}
              style={{ left: `${(at / times.length) * 100}%`, width: `${100 / times.length}%` }}
            />
          )}
        </div>
        <div className={s.times} aria-hidden="true">
          {first !== undefined && <span>{tick(first)}</span>}
          {middle !== undefined && <span>{tick(middle)}</span>}
          {last !== undefined && <span>{tick(last)}</span>}
        </div>
      </div>
      <ChartTable {...{ label, times, series: all, format, linkOf }} />
    </figure>
  );
}

const endOf = (times: readonly string[], at: number): string =>
  times[at + 1] ??
  new Date(2 * Date.parse(times[at]!) - Date.parse(times[at - 1] ?? times[at]!)).toISOString();

/** The course of a number beside it; the chart below tells the values. */
export function Sparkline({ values }: { readonly values: Values }) {
  const max = Math.max(1, ...values.map((value) => value ?? 0));
  return (
    <svg
      className={s.sparkline}
      viewBox={`0 0 ${values.length} ${max}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={lines(values, max)} vectorEffect="non-scaling-stroke" />
    </svg>
  );
}

const reading = (value: number | null | undefined, format: (value: number) => string): string =>
  value === null || value === undefined ? '–' : format(value);

const isEven = (value: number): boolean => value % 2 === 0;

/** The next round number whose half is whole, so that the scale reads well. */
const niceMax = (value: number): number => {
  if (value <= 4) return 4;
  const magnitude = 10 ** Math.floor(Math.log10(value));
  const step =
    [1, 2, 3, 4, 5, 6, 8, 10].find((one) => one * magnitude >= value && isEven(one * magnitude)) ?? 10;
  return step * magnitude;
};

function ChartTable({ label, times, series, format, linkOf }: ChartProps) {
  const [open, setOpen] = useState(false);
  const columns: readonly Column<number>[] = [
    {
      header: 'From',
      cell: (at) => <Link {...linkOf(times[at]!, endOf(times, at))}>{formatDateTime(times[at]!)}</Link>,
    },
    ...series.map(
      (one): Column<number> => ({
        ...{ header: one.label, align: 'end', cell: (at) => reading(one.values[at], format) },
      }),
    ),
  ];
  return (
    <details className={s.asTable} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Show as table<span className="visually-hidden">: {label}</span>
      </summary>
      {open && (
        <div className={s.tableBox}>
          <Table
            label={`${label} as a table`}
            columns={columns}
            rows={[...times.keys()]}
            rowKey={(at) => at}
            emptyState={null}
          />
        </div>
      )}
    </details>
  );
}

interface Series {
  readonly label: string;
  readonly color: string;
  /** One value for each time; null if nothing was measured. */
  readonly values: Values;
}

interface ChartProps {
  readonly label: string;
  readonly times: readonly string[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  /** Where the step between two times leads. */
  readonly linkOf: (sinceUtc: string, untilUtc: string) => LinkProps;
}
