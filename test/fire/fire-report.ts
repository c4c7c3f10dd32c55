// What came of the runs, as the table of docs/RELIABILITY.md.
import type { FireResult } from "./fire-tests.js";

export function renderFire(
  results: readonly FireResult[],
  { seed, runs }: { readonly seed: string; readonly runs: number },
): string {
  const done = results.filter(({ not_run }) => not_run === undefined);
  const sum = (
    of: readonly FireResult[],
    name: "acknowledged" | "lost" | "doubled" | "reordered" | "changed",
  ): string => of.reduce((total, result) => total + result[name], 0).toLocaleString("en-US");
  const inOrder = results.toSorted((left, right) => left.nth - right.nth);
  const rows = [...new Set(inOrder.map(({ fault }) => fault))].flatMap((fault) =>
    ["sqlite", "postgres"].flatMap((engine) => {
      const of = results.filter((result) => result.fault === fault && result.engine === engine);
      if (of.length === 0) return [];
      const not_run = of.find((result) => result.not_run !== undefined)?.not_run;
      const name = engine === "sqlite" ? "SQLite" : "PostgreSQL";
      if (not_run !== undefined) return [`| ${fault} | ${name} | not run: ${not_run} | | | | | | |`];
      const failed = of.filter(({ failure }) => failure !== undefined).length;
      const counts = (["acknowledged", "lost", "doubled", "reordered", "changed"] as const).map((column) =>
        sum(of, column),
      );
      return [
        `| ${fault} | ${name} | ${of.length} | ${counts.join(" | ")} | ${failed === 0 ? "held" : `${failed} FAILED`} |`,
      ];
    }),
  );
  const failed = done.filter(({ failure }) => failure !== undefined).length;
  return [
    `${done.length} runs from seed ${seed} with Node ${process.version} (\`HANSARD_FUZZ_SEED=${seed} HANSARD_FIRE_RUNS=${runs} npm run fire\`):`,
    `${sum(done, "acknowledged")} entries acknowledged, ${sum(done, "lost")} lost, ${sum(done, "doubled")} doubled,`,
    `${sum(done, "reordered")} reordered, ${sum(done, "changed")} changed; ${failed} of the runs failed.`,
    "",
    "| fault | engine | runs | acknowledged | lost | doubled | reordered | changed | outcome |",
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ...rows,
  ].join("\n");
}
