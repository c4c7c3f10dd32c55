// The whole session in the margin: where the reader is, and where errors, doubts, decisions and matches are.
import { type PointerEvent, useEffect, useRef } from "react";
import type { Transcript } from "../transcript/lines.js";
import { plural } from "../words.js";

const toneByNotable = { error: "--oxblood", unsure: "--ochre", decision: "--accent" } as const;
const WIDTH = 18;

export function SessionMap(options: {
  readonly count: number;
  readonly notables: Transcript["notables"];
  readonly matches: readonly number[];
  readonly range: { readonly startIndex: number; readonly endIndex: number };
  readonly isWhole: boolean;
  show(line: number): void;
}) {
  const { count, notables, matches, range, isWhole, show } = options;
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const sheet = canvas.current;
    if (sheet === null) return;
    const draw = (): void => paint(sheet, count, notables, matches);
    draw();
    const resized = new ResizeObserver(draw);
    resized.observe(sheet);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", draw);
    const themed = new MutationObserver(draw);
    themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      resized.disconnect();
      themed.disconnect();
      scheme.removeEventListener("change", draw);
    };
  }, [count, notables, matches]);
  const point = (event: PointerEvent<HTMLElement>): void => {
    if (event.buttons !== 1) return;
    const { top, height } = event.currentTarget.getBoundingClientRect();
    show(Math.max(0, Math.min(count - 1, Math.floor(((event.clientY - top) / height) * count))));
  };
  const share = (index: number): string => `${(index / Math.max(1, count)) * 100}%`;
  return (
    <div
      className="map"
      role="img"
      aria-label={`Map of the session: ${plural(notables.filter(({ what }) => what === "error").length, "error")}, ${plural(matches.length, "match", "matches")}`}
      data-whole={isWhole}
      onPointerDown={point}
      onPointerMove={point}
    >
      <canvas ref={canvas} />
      <span
        className="map-window"
        style={{ top: share(range.startIndex), height: share(range.endIndex - range.startIndex + 1) }}
      />
    </div>
  );
}

function paint(
  sheet: HTMLCanvasElement,
  count: number,
  notables: Transcript["notables"],
  matches: readonly number[],
): void {
  const scale = devicePixelRatio;
  const height = sheet.clientHeight;
  sheet.width = WIDTH * scale;
  sheet.height = height * scale;
  const pen = sheet.getContext("2d");
  if (pen === null || count === 0) return;
  const probe = getComputedStyle(sheet);
  const colour = (token: string): string => {
    sheet.style.color = `var(${token})`;
    return probe.color;
  };
  pen.scale(scale, scale);
  const tall = Math.max(2, Math.min(5, height / count));
  pen.fillStyle = colour("--marked");
  for (const line of matches) pen.fillRect(0, (line / count) * height, WIDTH, tall);
  for (const what of ["decision", "unsure", "error"] as const) {
    pen.fillStyle = colour(toneByNotable[what]);
    for (const { line, what: its } of notables)
      if (its === what) pen.fillRect(5, (line / count) * height, WIDTH - 5, tall);
  }
}
