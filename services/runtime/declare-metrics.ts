/**
 * Declares the metrics of a service, by the names that Prometheus knows them by. The registry takes only declared
 * metrics, so the tests of alerts and the dashboard can read these declarations instead of a running process.
 */
export const declareMetrics = <const Declarations extends Readonly<Record<string, Declaration>>>(
  declarations: Declarations,
): Declared<Declarations> =>
  Object.fromEntries(
    Object.entries(declarations).map(([name, { type, help, labels = [] }]) => [
      name,
      { name, type, help, labels },
    ]),
  ) as unknown as Declared<Declarations>;

/** A declared metric. */
export interface Metric<
  Type extends MetricType = MetricType,
  Labels extends readonly string[] = readonly string[],
> {
  readonly name: string;
  readonly type: Type;
  readonly help: string;
  readonly labels: Labels;
  /** Nothing but `declareMetrics` makes a value of this type. */
  readonly [declared]: true;
}

declare const declared: unique symbol;

/** A histogram is in seconds. */
type MetricType = 'counter' | 'gauge' | 'histogram';

interface Declaration {
  readonly type: MetricType;
  readonly help: string;
  readonly labels?: readonly string[];
}

type Declared<Declarations extends Readonly<Record<string, Declaration>>> = {
  readonly [Name in keyof Declarations]: Metric<
    Declarations[Name]['type'],
    Declarations[Name] extends { readonly labels: infer Labels extends readonly string[] }
      ? Labels
      : readonly []
  >;
};
