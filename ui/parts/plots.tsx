// Plots as labelled SVG: bars over time, bars by name, points on a scale; each with its numbers as a table for who listens.
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";

export interface Bar {
  readonly name: string;
  readonly value: number;
  /** The part of it that failed. */
  readonly failed?: number;
  readonly words: string;
  readonly href?: string;
}

const WIDTH = 640;
const ROW = 26;
const NAME_SHARE = 0.27;
const CHAR_PX = 7;

/** Bars beside their names: how many, and how many of them failed. */
export function NamedBars({ title, bars }: { readonly title: string; readonly bars: readonly Bar[] }) {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const [figure, width] = useWidth();
  const left = Math.round(width * NAME_SHARE);
  const charsMax = Math.floor((left - 8) / CHAR_PX);
  const room = width - left - 16 - CHAR_PX * Math.max(...bars.map(({ words }) => words.length));
  return (
    <Plot title={title} bars={bars} figure={figure}>
      <svg viewBox={`0 0 ${width} ${bars.length * ROW}`} role="img" aria-label={title} className="plot">
        {bars.map(({ name, value, failed = 0, words }, at) => (
          <g key={name} transform={`translate(0 ${at * ROW})`}>
            <text x={left - 8} y={17} textAnchor="end">
              {name.length > charsMax ? `${name.slice(0, charsMax - 1)}…` : name}
            </text>
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

const TALL = 120;
const LEFT = 40;
const FOOT = 22;

/** Bars side by side along time or a scale, with an axis below and the greatest value beside. */
export function Columns(options: {
  readonly title: string;
  readonly bars: readonly Bar[];
  /** What stands below the first, the middle and the last. */
  readonly axis: readonly [string, string, string];
}) {
  const { title, bars, axis } = options;
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const [figure, width] = useWidth();
  const step = (width - LEFT) / Math.max(1, bars.length);
  const high = (value: number): number => (value / most) * (TALL - 8);
  return (
    <Plot title={title} bars={bars} figure={figure}>
      <svg viewBox={`0 0 ${width} ${TALL + FOOT}`} role="img" aria-label={title} className="plot">
        <line className="axis" x1={LEFT} x2={width} y1={TALL} y2={TALL} />
        <text className="quiet" x={LEFT - 6} y={14} textAnchor="end">
          {most}
        </text>
        <text className="quiet" x={LEFT - 6} y={TALL} textAnchor="end">
          0
        </text>
        {bars.map(({ name, value, failed = 0, words }, at) => (
          <g key={name}>
            <title>{`${name}: ${words}`}</title>
            <rect
              className="bar"
              x={LEFT + at * step + 1}
              y={TALL - high(value)}
              width={Math.max(1, step - 2)}
              height={high(value)}
            />
            <rect
              className="bar error"
              x={LEFT + at * step + 1}
              y={TALL - high(failed)}
              width={Math.max(1, step - 2)}
              height={high(failed)}
            />
          </g>
        ))}
        {axis.map((text, at) => (
          <text
            // biome-ignore lint/suspicious/noArrayIndexKey: three places, always the same.
            key={at}
            className="quiet"
            x={[LEFT, LEFT + (width - LEFT) / 2, width][at]}
            y={TALL + 16}
            textAnchor={(["start", "middle", "end"] as const)[at]}
          >
            {text}
          </text>
        ))}
      </svg>
    </Plot>
  );
}

/** As wide as there is room, so that labels are as large on a phone as elsewhere. */
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
  readonly bars: readonly Bar[];
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
