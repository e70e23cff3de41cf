import { useState } from 'react';
import { absolute } from '../format.ts';
import s from './chart.module.css';
import type { ChartProps } from './chart-props.ts';

/** The chart's numbers as a table, for readers who cannot use the picture. */
export function ChartTable({ label, times, series, format }: ChartProps) {
  const [open, setOpen] = useState(false);
  return (
    <details className={s.asTable} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Show as table<span className="visually-hidden">: {label}</span>
      </summary>
      {open && <Rows times={times} series={series} format={format} label={label} />}
    </details>
  );
}

function Rows({ label, times, series, format }: ChartProps) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={s.tableBox} tabIndex={0} aria-label={`${label} as a table`}>
        <table className={s.table}>
          <thead>
            <tr>
              <th scope="col">From</th>
              {series.map((one) => (
                <th key={one.label} scope="col">
                  {one.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((time, index) => (
              <tr key={time}>
                <th scope="row">{absolute(time)}</th>
                {series.map((one) => {
                  const value = one.values[index];
                  return (
                    <td key={one.label}>{value === null || value === undefined ? '–' : format(value)}</td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}
