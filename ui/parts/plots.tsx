// Labelled SVG charts: columns over time and bars by name. A table holds the numbers for screen readers.
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { Link } from "../router.js";

export interface Bar {
  readonly name: string;
  readonly value: number;
  /** The share of the value that failed. */
  readonly failed?: number;
  readonly tone?: "low";
  readonly words: string;
  /** Link to the entries that are counted. */
  readonly href?: string;
}

const WIDTH = 640;
const ROW = 26;
const NAME_SHARE = 0.27;
const CHAR_PX = 8;

/** Horizontal bars with their names: counts, and failures in red. */
export function NamedBars({ title, bars }: { readonly title: string; readonly bars: readonly Bar[] }) {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const [figure, width] = useWidth();
  const left = Math.round(width * NAME_SHARE);
  const charsMax = Math.floor((left - 8) / CHAR_PX);
  const room = width - left - 16 - CHAR_PX * Math.max(...bars.map(({ words }) => words.length));
  return (
    <Plot title={title} bars={bars} figure={figure}>
      <svg viewBox={`0 0 ${width} ${bars.length * ROW}`} {...roleOf(bars)} aria-label={title} className="plot">
        {bars.map(({ name, value, failed = 0, words, href }, at) => (
          <g key={name} transform={`translate(0 ${at * ROW})`}>
            <Name name={name} x={left - 8} charsMax={charsMax} href={href} />
            <rect className="bar" x={left} y={5} width={Math.max(1, (value / most) * room)} height={16} />
            <rect className="bar error" x={left} y={5} width={(failed / most) * room} height={16} />
            <text className="quiet" x={left + Math.max(1, (value / most) * room) + 8} y={17}>
              {words}
            </text>
          </g>
        ))}
      </svg>
    </Plot>
  );
}

/** A chart with links is a group, not an image. */
function roleOf(rows: readonly { readonly href?: string }[]): { readonly role: "group" | "img" } {
  return { role: rows.some(({ href }) => href !== undefined) ? "group" : "img" };
}

function Name(options: {
  readonly name: string;
  readonly x: number;
  readonly charsMax: number;
  readonly href: string | undefined;
}) {
  const { name, x, charsMax, href } = options;
  const text = (
    <text x={x} y={17} textAnchor="end">
      {name.length > charsMax ? `${name.slice(0, charsMax - 1)}…` : name}
    </text>
  );
  return href === undefined ? text : <Link to={href}>{text}</Link>;
}

const PLOT_HEIGHT = 120;
const LEFT = 40;
const AXIS_HEIGHT = 22;

/** Columns along time or a scale, with an axis below and the maximum at the side. */
export function Columns(options: {
  readonly title: string;
  readonly bars: readonly Bar[];
  /** Labels below the first, middle and last column. */
  readonly axis: readonly [string, string, string];
  /** How the maximum is written; counts are at least one. */
  readonly formatMost?: (most: number) => string;
}) {
  const { title, bars, axis, formatMost } = options;
  const greatest = Math.max(...bars.map(({ value }) => value));
  const most = formatMost === undefined ? Math.max(1, greatest) : greatest || 1;
  const [figure, width] = useWidth();
  const step = (width - LEFT) / Math.max(1, bars.length);
  const high = (value: number): number => (value / most) * (PLOT_HEIGHT - 8);
  return (
    <Plot title={title} bars={bars} figure={figure}>
      <svg viewBox={`0 0 ${width} ${PLOT_HEIGHT + AXIS_HEIGHT}`} role="img" aria-label={title} className="plot">
        <line className="axis" x1={LEFT} x2={width} y1={PLOT_HEIGHT} y2={PLOT_HEIGHT} />
        <text className="quiet" x={LEFT - 6} y={14} textAnchor="end">
          {formatMost === undefined ? most : formatMost(greatest)}
        </text>
        <text className="quiet" x={LEFT - 6} y={PLOT_HEIGHT} textAnchor="end">
          0
        </text>
        {bars.map(({ name, value, failed = 0, words, tone }, at) => (
          <g key={name}>
            <title>{`${name}: ${words}`}</title>
            <rect
              className="bar"
              data-tone={tone}
              x={LEFT + at * step + 1}
              y={PLOT_HEIGHT - high(value)}
              width={Math.max(1, step - 2)}
              height={high(value)}
            />
            <rect
              className="bar error"
              x={LEFT + at * step + 1}
              y={PLOT_HEIGHT - high(failed)}
              width={Math.max(1, step - 2)}
              height={high(failed)}
            />
          </g>
        ))}
        {axis.map((text, at) => (
          <text
            // biome-ignore lint/suspicious/noArrayIndexKey: always the same three labels.
            key={at}
            className="quiet"
            x={[LEFT, LEFT + (width - LEFT) / 2, width][at]}
            y={PLOT_HEIGHT + 16}
            textAnchor={(["start", "middle", "end"] as const)[at]}
          >
            {text}
          </text>
        ))}
      </svg>
    </Plot>
  );
}

/** Drawn at the actual width, so labels keep their size on a phone. */
function useWidth(): readonly [figure: RefObject<HTMLElement | null>, width: number] {
  const figure = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(WIDTH);
  useEffect(() => {
    if (figure.current === null) return;
    const resized = new ResizeObserver(
      ([entry]) => entry !== undefined && setWidth(Math.round(entry.contentRect.width)),
    );
    resized.observe(figure.current);
    return () => resized.disconnect();
  }, []);
  return [figure, width];
}

function Plot(options: {
  readonly title: string;
  readonly bars: readonly Pick<Bar, "name" | "words">[];
  readonly figure: RefObject<HTMLElement | null>;
  readonly children: ReactNode;
}) {
  const { title, bars, figure, children } = options;
  return (
    <figure className="plot-figure" ref={figure}>
      {children}
      <figcaption>{title}</figcaption>
      <div className="only-read">
        <table>
          <caption>{title}</caption>
          <tbody>
            {bars.map(({ name, words }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{words}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
